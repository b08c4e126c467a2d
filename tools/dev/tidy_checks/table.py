"""Who may include whom. This is the one table; README.md of tools/dev tells how to read and change it.

A file belongs to the longest prefix that it starts with. It may include files of its own prefix and files that start with one of
the prefixes listed beside it. Lowest rows first.
"""

BASE = 'transfer/base/'
TYPES = 'master/api/types.h'
# The ports that adapters implement or serve; no back-end types in them.
TRANSPORT_PORTS = ('transfer/transport/transport.h', 'transfer/transport/served_segments.h', 'transfer/transport/master_clock.h')
# The layout of the first page of a shared region, a header without code: the node writes it, the shm adapter reads it.
REGION_HEADER = 'transfer/transport/shm/region_header.h'
# Copies between a slice's buffers and mapped memory; shared by the adapters that map.
SLICE_COPY = 'transfer/transport/slice_copy.h'
# Knows the adapters; for those who put a whole program together.
TRANSPORT_FACTORY = 'transfer/transport/transport_factory.h'
CLIENT = ('client/store_client.h', 'client/core/', 'client/cache/')

MAY_INCLUDE = {
    # row 0
    'transfer/base/': (),
    'master/api/types': (BASE, 'master/api/segment_types.h'),
    'master/api/segment_types': (BASE,),
    'master/api/durability_types': (BASE, 'master/api/segment_types.h'),
    # row 1: the three pure cores
    'master/core/': (BASE, TYPES, 'master/api/quota_types.h'),
    'storenode/core/': (BASE, TYPES),
    'client/core/': (BASE, TYPES),
    # row 2
    'transfer/coord/': (BASE,),
    'transfer/transport/memcpy/': (BASE, *TRANSPORT_PORTS, 'transfer/transport/in_process_directory.h', SLICE_COPY),
    'transfer/transport/tcp/': (BASE,) + TRANSPORT_PORTS,
    # Writes of the shm adapter travel in the tcp framing, over the node's Unix socket.
    'transfer/transport/shm/': (BASE, *TRANSPORT_PORTS, SLICE_COPY, 'transfer/transport/tcp/'),
    'transfer/transport/rdma/': (BASE,) + TRANSPORT_PORTS,
    'transfer/transport/': (BASE, 'transfer/transport/'),
    'storenode/memory/': (BASE, REGION_HEADER),
    'storenode/storage/': (BASE,),
    'storenode/api/': (BASE, TYPES),
    # row 3
    'transfer/engine/': (BASE, 'transfer/coord/') + TRANSPORT_PORTS,
    'master/api/': (BASE, 'transfer/coord/', TYPES, 'master/api/durability_types.h'),
    'master/ha/': (BASE, 'transfer/coord/', 'master/core/', TYPES, 'master/api/durability_types.h'),
    'master/tenants/': (BASE, 'transfer/coord/', TYPES, 'master/api/quota_types.h'),
    # row 4
    'master/server/': (BASE, 'transfer/coord/', 'master/api/', 'master/ha/', 'master/tenants/', 'master/core/'),
    'storenode/node/': (BASE, 'transfer/coord/', 'transfer/engine/', *TRANSPORT_PORTS, 'master/api/', 'storenode/api/',
                        'storenode/storage/', 'storenode/memory/', 'storenode/core/'),
    # The data server's adapter, for whoever puts a node together.
    'storenode/node/tcp_data_server': (BASE, *TRANSPORT_PORTS, 'transfer/transport/tcp/', 'storenode/node/'),
    'storenode/node/rdma_data_server': (BASE, *TRANSPORT_PORTS, 'transfer/transport/rdma/', 'storenode/node/'),
    'storenode/node/storenode_main.cc': ('transfer/', 'master/api/', 'storenode/'),
    'client/': (BASE, 'transfer/coord/', 'transfer/engine/', *TRANSPORT_PORTS, TRANSPORT_FACTORY, 'master/api/',
                'storenode/api/', 'client/core/', 'client/cache/'),
    'client/cache/': (BASE,),
    'client/dummy/': (BASE, TYPES) + TRANSPORT_PORTS + CLIENT,
    'client/capi/': (BASE, TYPES) + CLIENT,
    'client/examples/': (BASE, TYPES, 'client/store_client.h'),
    # row 5
    'client/embedded/': (BASE, 'transfer/coord/', 'transfer/engine/', *TRANSPORT_PORTS, TRANSPORT_FACTORY, 'master/api/',
                         'master/server/', 'storenode/node/', 'storenode/api/', 'client/'),
    'fuse/fs/': (BASE, TYPES, 'client/store_client.h'),
    # statfs asks the master.
    'fuse/fs/file_system': (BASE, TYPES, 'fuse/fs/', 'client/store_client.h', 'master/api/master_api.h'),
    # The device is the user data of libfuse's session.
    'fuse/ops/': (BASE, TYPES, 'fuse/fs/', 'fuse/device.h', 'client/store_client.h'),
    'fuse/': (BASE, TYPES, *TRANSPORT_PORTS, TRANSPORT_FACTORY, 'fuse/', 'client/store_client.h', 'client/embedded/'),
    # rows 6 and 7
    'tools/': ('transfer/', 'master/', 'storenode/', 'client/', 'fuse/', 'tools/'),
    'tests/': ('transfer/', 'master/', 'storenode/', 'client/', 'fuse/', 'tools/', 'tests/'),
}

# Third-party header (regular expression on what stands between the brackets or quotes) -> prefixes of the files that may
# include it. tests/ may include anything.
THIRD_PARTY = (
    ('verbs', r'infiniband/|rdma/', ('transfer/transport/rdma/',)),
    ('libfuse', r'fuse|fuse3/', ('fuse/ops/', 'fuse/device', 'fuse/invalidator', 'fuse/session')),
    ('Thrift', r'thrift/|.*gen-cpp/',
     ('master/api/wire', 'master/api/remote_', 'master/server/', 'storenode/api/wire', 'storenode/api/remote_',
      'storenode/node/thrift_')),
    ('RocksDB', r'rocksdb/', ('master/ha/rocksdb_', 'master/ha/sst_snapshots', 'storenode/storage/rocksdb_backend')),
    ('libcurl', r'curl/', ('transfer/coord/http_post',)),
    ('yaml-cpp', r'yaml-cpp/', ('transfer/base/config', 'master/tenants/policy_text')),
    ('civetweb', r'civetweb\.h|CivetServer\.h', ('master/server/admin_http', 'storenode/node/admin_http')),
    ('gflags', r'gflags/', ('transfer/base/config', 'master/server/', 'storenode/node/', 'fuse/', 'tools/')),
)
