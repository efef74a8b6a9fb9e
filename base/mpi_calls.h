/* The MPI functions that can wait for other ranks, in one table. layers/mpi/ defines each of them, profiles
 * contain their numbers, and reports print their names. Because of the numbers in profiles, new functions
 * must be added at the end.
 *
 * The arguments of CALL are the name, the name in Fortran, the number of parameters in C and in Fortran, and
 * the positions of three parameters: communicator, element count, element type. A position is 0 if there is
 * no such parameter, or if the count does not determine the size of the transfer. BUFFERED has the same
 * arguments; it is for functions with buffers, which have several names. */
#ifndef BLAME_BASE_MPI_CALLS_H
#define BLAME_BASE_MPI_CALLS_H

/* clang-format off */
#define MPI_CALLS(CALL, BUFFERED) \
    BUFFERED(Send, send, 6, 7, 6, 2, 3) \
    BUFFERED(Bsend, bsend, 6, 7, 6, 2, 3) \
    BUFFERED(Ssend, ssend, 6, 7, 6, 2, 3) \
    BUFFERED(Rsend, rsend, 6, 7, 6, 2, 3) \
    BUFFERED(Recv, recv, 7, 8, 6, 2, 3) \
    BUFFERED(Sendrecv, sendrecv, 12, 13, 11, 2, 3) \
    BUFFERED(Sendrecv_replace, sendrecv_replace, 9, 10, 8, 2, 3) \
    BUFFERED(Mrecv, mrecv, 5, 6, 0, 2, 3) \
    CALL(Probe, probe, 4, 5, 3, 0, 0) \
    CALL(Mprobe, mprobe, 5, 6, 3, 0, 0) \
    CALL(Wait, wait, 2, 3, 0, 0, 0) \
    CALL(Waitany, waitany, 4, 5, 0, 0, 0) \
    CALL(Waitall, waitall, 3, 4, 0, 0, 0) \
    CALL(Waitsome, waitsome, 5, 6, 0, 0, 0) \
    BUFFERED(Buffer_detach, buffer_detach, 2, 3, 0, 0, 0) \
    CALL(Barrier, barrier, 1, 2, 1, 0, 0) \
    BUFFERED(Bcast, bcast, 5, 6, 5, 0, 0) \
    BUFFERED(Gather, gather, 8, 9, 8, 0, 0) \
    BUFFERED(Gatherv, gatherv, 9, 10, 9, 0, 0) \
    BUFFERED(Scatter, scatter, 8, 9, 8, 0, 0) \
    BUFFERED(Scatterv, scatterv, 9, 10, 9, 0, 0) \
    BUFFERED(Allgather, allgather, 7, 8, 7, 0, 0) \
    BUFFERED(Allgatherv, allgatherv, 8, 9, 8, 0, 0) \
    BUFFERED(Alltoall, alltoall, 7, 8, 7, 0, 0) \
    BUFFERED(Alltoallv, alltoallv, 9, 10, 9, 0, 0) \
    BUFFERED(Alltoallw, alltoallw, 9, 10, 9, 0, 0) \
    BUFFERED(Reduce, reduce, 7, 8, 7, 0, 0) \
    BUFFERED(Allreduce, allreduce, 6, 7, 6, 3, 4) \
    BUFFERED(Reduce_scatter, reduce_scatter, 6, 7, 6, 0, 0) \
    BUFFERED(Reduce_scatter_block, reduce_scatter_block, 6, 7, 6, 3, 4) \
    BUFFERED(Scan, scan, 6, 7, 6, 3, 4) \
    BUFFERED(Exscan, exscan, 6, 7, 6, 3, 4) \
    BUFFERED(Neighbor_allgather, neighbor_allgather, 7, 8, 7, 0, 0) \
    BUFFERED(Neighbor_allgatherv, neighbor_allgatherv, 8, 9, 8, 0, 0) \
    BUFFERED(Neighbor_alltoall, neighbor_alltoall, 7, 8, 7, 0, 0) \
    BUFFERED(Neighbor_alltoallv, neighbor_alltoallv, 9, 10, 9, 0, 0) \
    BUFFERED(Neighbor_alltoallw, neighbor_alltoallw, 9, 10, 9, 0, 0) \
    CALL(Comm_dup, comm_dup, 2, 3, 1, 0, 0) \
    CALL(Comm_dup_with_info, comm_dup_with_info, 3, 4, 1, 0, 0) \
    CALL(Comm_create, comm_create, 3, 4, 1, 0, 0) \
    CALL(Comm_create_group, comm_create_group, 4, 5, 1, 0, 0) \
    CALL(Comm_split, comm_split, 4, 5, 1, 0, 0) \
    CALL(Comm_split_type, comm_split_type, 5, 6, 1, 0, 0) \
    CALL(Comm_free, comm_free, 1, 2, 0, 0, 0) \
    CALL(Comm_disconnect, comm_disconnect, 1, 2, 0, 0, 0) \
    CALL(Comm_accept, comm_accept, 5, 7, 4, 0, 0) \
    CALL(Comm_connect, comm_connect, 5, 7, 4, 0, 0) \
    CALL(Comm_join, comm_join, 2, 3, 0, 0, 0) \
    CALL(Comm_spawn, comm_spawn, 8, 11, 6, 0, 0) \
    CALL(Comm_spawn_multiple, comm_spawn_multiple, 9, 12, 7, 0, 0) \
    CALL(Intercomm_create, intercomm_create, 6, 7, 1, 0, 0) \
    CALL(Intercomm_merge, intercomm_merge, 3, 4, 1, 0, 0) \
    CALL(Cart_create, cart_create, 6, 7, 1, 0, 0) \
    CALL(Cart_sub, cart_sub, 3, 4, 1, 0, 0) \
    CALL(Graph_create, graph_create, 6, 7, 1, 0, 0) \
    CALL(Dist_graph_create, dist_graph_create, 9, 10, 1, 0, 0) \
    CALL(Dist_graph_create_adjacent, dist_graph_create_adjacent, 10, 11, 1, 0, 0) \
    BUFFERED(Win_create, win_create, 6, 7, 5, 0, 0) \
    CALL(Win_create_dynamic, win_create_dynamic, 3, 4, 2, 0, 0) \
    CALL(Win_allocate, win_allocate, 6, 7, 4, 0, 0) \
    CALL(Win_allocate_shared, win_allocate_shared, 6, 7, 4, 0, 0) \
    CALL(Win_free, win_free, 1, 2, 0, 0, 0) \
    CALL(Win_fence, win_fence, 2, 3, 0, 0, 0) \
    CALL(Win_start, win_start, 3, 4, 0, 0, 0) \
    CALL(Win_post, win_post, 3, 4, 0, 0, 0) \
    CALL(Win_complete, win_complete, 1, 2, 0, 0, 0) \
    CALL(Win_wait, win_wait, 1, 2, 0, 0, 0) \
    CALL(Win_lock, win_lock, 4, 5, 0, 0, 0) \
    CALL(Win_lock_all, win_lock_all, 2, 3, 0, 0, 0) \
    CALL(Win_unlock, win_unlock, 2, 3, 0, 0, 0) \
    CALL(Win_unlock_all, win_unlock_all, 1, 2, 0, 0, 0) \
    CALL(Win_flush, win_flush, 2, 3, 0, 0, 0) \
    CALL(Win_flush_all, win_flush_all, 1, 2, 0, 0, 0) \
    CALL(Win_flush_local, win_flush_local, 2, 3, 0, 0, 0) \
    CALL(Win_flush_local_all, win_flush_local_all, 1, 2, 0, 0, 0) \
    CALL(File_open, file_open, 5, 7, 1, 0, 0) \
    CALL(File_close, file_close, 1, 2, 0, 0, 0) \
    CALL(File_set_view, file_set_view, 6, 8, 0, 0, 0) \
    CALL(File_set_size, file_set_size, 2, 3, 0, 0, 0) \
    CALL(File_preallocate, file_preallocate, 2, 3, 0, 0, 0) \
    CALL(File_sync, file_sync, 1, 2, 0, 0, 0) \
    CALL(File_seek_shared, file_seek_shared, 3, 4, 0, 0, 0) \
    BUFFERED(File_read_all, file_read_all, 5, 6, 0, 3, 4) \
    BUFFERED(File_read_at_all, file_read_at_all, 6, 7, 0, 4, 5) \
    BUFFERED(File_read_ordered, file_read_ordered, 5, 6, 0, 3, 4) \
    BUFFERED(File_read_all_end, file_read_all_end, 3, 4, 0, 0, 0) \
    BUFFERED(File_read_at_all_end, file_read_at_all_end, 3, 4, 0, 0, 0) \
    BUFFERED(File_read_ordered_end, file_read_ordered_end, 3, 4, 0, 0, 0) \
    BUFFERED(File_write_all, file_write_all, 5, 6, 0, 3, 4) \
    BUFFERED(File_write_at_all, file_write_at_all, 6, 7, 0, 4, 5) \
    BUFFERED(File_write_ordered, file_write_ordered, 5, 6, 0, 3, 4) \
    BUFFERED(File_write_all_end, file_write_all_end, 3, 4, 0, 0, 0) \
    BUFFERED(File_write_at_all_end, file_write_at_all_end, 3, 4, 0, 0, 0) \
    BUFFERED(File_write_ordered_end, file_write_ordered_end, 3, 4, 0, 0, 0) \
    CALL(Finalize, finalize, 0, 1, 0, 0, 0) \
    CALL(Comm_create_from_group, comm_create_from_group, 5, 7, 0, 0, 0) \
    CALL(Intercomm_create_from_groups, intercomm_create_from_groups, 8, 10, 0, 0, 0) \
    CALL(Session_finalize, session_finalize, 1, 2, 0, 0, 0)
/* clang-format on */

enum mpi_function {
#define MPI_CALL(name, ...) MPI_CALL_##name,
    MPI_CALLS(MPI_CALL, MPI_CALL)
#undef MPI_CALL
        MPI_CALL_COUNT
};

#endif
