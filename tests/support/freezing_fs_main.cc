// freezing-fs FOLDER MOUNT_POINT SUFFIX: shows FOLDER at MOUNT_POINT, and stops itself (SIGSTOP) each time after a file whose name ends
// with SUFFIX was created, as a storage that no longer answers. SIGCONT heals it. It never stops in the middle of a request: what a
// file system has begun cannot be interrupted by any signal, so that a process that waits for it could not even be killed.
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <fuse.h>
#include <fuse_lowlevel.h>

namespace {

struct Storage {
  std::string folder;
  std::string suffix;
  bool freeze = false;
};

Storage& TheStorage() { return *static_cast<Storage*>(fuse_get_context()->private_data); }
std::string PathOf(const char* path) { return TheStorage().folder + path; }
int Outcome(int result) { return result < 0 ? -errno : 0; }
int FdOf(const fuse_file_info* file) { return static_cast<int>(file->fh); }

int GetAttributes(const char* path, struct stat* attributes, fuse_file_info*) {
  return Outcome(lstat(PathOf(path).c_str(), attributes));
}
int List(const char* path, void* buffer, fuse_fill_dir_t fill, off_t, fuse_file_info*,
         fuse_readdir_flags) {
  DIR* folder = opendir(PathOf(path).c_str());
  if (folder == nullptr) return -errno;
  while (const dirent* entry = readdir(folder))
    fill(buffer, entry->d_name, nullptr, 0, static_cast<fuse_fill_dir_flags>(0));
  return Outcome(closedir(folder));
}
int MakeFolder(const char* path, mode_t mode) { return Outcome(mkdir(PathOf(path).c_str(), mode)); }
int RemoveFolder(const char* path) { return Outcome(rmdir(PathOf(path).c_str())); }
int RemoveFile(const char* path) { return Outcome(unlink(PathOf(path).c_str())); }
int Rename(const char* from, const char* to, unsigned) {
  return Outcome(rename(PathOf(from).c_str(), PathOf(to).c_str()));
}
int ChangeMode(const char* path, mode_t mode, fuse_file_info*) {
  return Outcome(chmod(PathOf(path).c_str(), mode));
}
int ChangeOwner(const char* path, uid_t user, gid_t group, fuse_file_info*) {
  return Outcome(lchown(PathOf(path).c_str(), user, group));
}
int Truncate(const char* path, off_t size, fuse_file_info*) {
  return Outcome(truncate(PathOf(path).c_str(), size));
}
int Open(const char* path, fuse_file_info* file) {
  const int fd = open(PathOf(path).c_str(), file->flags & ~O_EXCL);
  file->fh = static_cast<uint64_t>(fd);
  return Outcome(fd);
}
int Create(const char* path, mode_t mode, fuse_file_info* file) {
  const int fd = open(PathOf(path).c_str(), file->flags | O_CREAT, mode);
  file->fh = static_cast<uint64_t>(fd);
  TheStorage().freeze = fd >= 0 && std::string_view(path).ends_with(TheStorage().suffix);
  return Outcome(fd);
}
int Read(const char*, char* buffer, size_t size, off_t offset, fuse_file_info* file) {
  const ssize_t got = pread(FdOf(file), buffer, size, offset);
  return got < 0 ? -errno : static_cast<int>(got);
}
int Write(const char*, const char* bytes, size_t size, off_t offset, fuse_file_info* file) {
  const ssize_t written = pwrite(FdOf(file), bytes, size, offset);
  return written < 0 ? -errno : static_cast<int>(written);
}
int Synchronise(const char*, int, fuse_file_info* file) { return Outcome(fsync(FdOf(file))); }
int Release(const char*, fuse_file_info* file) { return Outcome(close(FdOf(file))); }

// No `flush`: the kernel would wait for it at the end of a process, whatever kills that.
fuse_operations Operations() {
  fuse_operations operations{};
  operations.getattr = GetAttributes;
  operations.readdir = List;
  operations.mkdir = MakeFolder;
  operations.rmdir = RemoveFolder;
  operations.unlink = RemoveFile;
  operations.rename = Rename;
  operations.chmod = ChangeMode;
  operations.chown = ChangeOwner;
  operations.truncate = Truncate;
  operations.open = Open;
  operations.create = Create;
  operations.read = Read;
  operations.write = Write;
  operations.fsync = Synchronise;
  operations.release = Release;
  return operations;
}

int Serve(Storage& storage, char* program, const char* mount_point) {
  char* arguments[] = {program};
  fuse_args args = FUSE_ARGS_INIT(1, arguments);
  const fuse_operations operations = Operations();
  fuse* const served = fuse_new(&args, &operations, sizeof operations, &storage);
  if (served == nullptr || fuse_mount(served, mount_point) != 0) return EXIT_FAILURE;
  std::fputs("ready \n", stderr);
  fuse_session* const session = fuse_get_session(served);
  fuse_buf request{};
  while (fuse_session_exited(session) == 0) {
    if (fuse_session_receive_buf(session, &request) <= 0) continue;
    fuse_session_process_buf(session, &request);
    if (std::exchange(storage.freeze, false)) std::raise(SIGSTOP);
  }
  std::free(request.mem);
  fuse_unmount(served);
  fuse_destroy(served);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return EXIT_FAILURE;
  Storage storage{.folder = argv[1], .suffix = argv[3]};
  return Serve(storage, argv[0], argv[2]);
}
