#include "command/rows/mpi_names.h"
#include "tests/unit/unit.h"

UNIT_TEST(one_name_in_c_and_in_fortran_of_mpi_and_of_pmpi)
{
    static const char *const same[] = {"MPI_Comm_split",        "PMPI_Comm_split", "mpi_comm_split_",
                                       "pmpi_comm_split__",     "mpi_comm_split",  "mpi_comm_split_f08_",
                                       "pmpi_comm_split_f08ts_"};
    char text[MPI_NAME_BYTES];
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_string_equal(row_mpi_function_name("libmpi.so.40", same[i], text), "MPI_Comm_split");
    assert_string_equal(row_mpi_function_name("libmpi_usempif08.so.40", "mpi_init_thread_f08_", text),
                        "MPI_Init_thread");
    assert_string_equal(row_mpi_function_name("libmpich.so.12", "MPIR_Barrier", text), "MPIR_Barrier");
    assert_string_equal(row_mpi_function_name("libmpich.so.12", "mpi_", text), "mpi_");
    assert_string_equal(row_mpi_function_name("app", "PMPI_Barrier", text), "PMPI_Barrier");
}

UNIT_TEST(a_frame_of_a_call_that_waits_is_untold_waiting)
{
    struct row_label label = {.name = "MPI_Wait", .module = "libmpi.so.40", .file = ""};
    struct row row = {.kind = ROW_PROCEDURE, .label = &label};
    assert_true(row_mpi_wait_is_unreported(&row));
    label.name = "MPI_Test";
    assert_false(row_mpi_wait_is_unreported(&row));
    label = (struct row_label){.name = "MPI_Wait", .module = "app", .file = ""};
    assert_false(row_mpi_wait_is_unreported(&row));
    label.module = "libmpi.so.40";
    row.kind = ROW_RUNTIME; /* told */
    assert_false(row_mpi_wait_is_unreported(&row));
}

UNIT_MAIN(NULL, NULL)
