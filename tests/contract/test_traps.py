"""What failures look like and are not: each such trap in a sentence, with the tests that hold it.

The tests are found by collecting them, so that none of these traps is lost when a test is renamed or taken away.
Readers are tested on what the real libraries raise.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

READERS = "tests/evidence/protocols"
POLICIES = "tests/policies"

TRAPS: dict[str, tuple[str, ...]] = {
    "A 403 may be a rate limit, by an empty budget, a reason, or a quota in use, and not a matter of credentials.": (
        f"{READERS}/test_http_traps.py::test_a_403_of_github_is_a_rate_limit",
        f"{READERS}/test_http_status.py::test_a_retry_after_makes_a_refusal_temporary",
        f"{READERS}/test_google.py::test_a_reason_says_more_than_the_status",
    ),
    "A 429 for an account that is empty or at its spend limit is not waited for.": (
        f"{READERS}/test_http_traps.py::test_a_429_for_an_empty_account_is_not_waited_for",
        f"{READERS}/test_http_codes.py::test_the_message_narrows_what_the_code_of_a_rate_limit_says",
    ),
    "A 400 may be throttling, an expired token or a timeout of the service.": (
        f"{READERS}/test_http_traps.py::test_a_400_of_aws_that_throttles_is_no_bad_request",
        f"{READERS}/test_http_codes.py::test_a_message_that_says_not_yet_is_believed_over_a_general_code",
    ),
    "A transfer that was cut carries a 400 inside aiohttp, which is no status of an answer.": (
        f"{READERS}/test_http_traps.py::test_a_cut_transfer_is_no_status_400",
    ),
    "PostgreSQL's drivers have no SQLSTATE for a connection that was refused: only the words tell why.": (
        f"{READERS}/test_sql_postgres.py::test_a_refused_login_is_told_by_its_words_since_libpq_drops_the_code",
        f"{READERS}/test_text_traps.py::TestPostgresAtConnect::test_the_servers_words_decide",
    ),
    "A backend that was killed has a code in one driver and none in the other.": (
        f"{READERS}/test_sql_postgres.py::test_a_killed_backend_is_a_lost_connection_with_and_without_a_code",
        f"{READERS}/test_text_traps.py::TestPostgresLater::test_a_killed_backend_is_the_network_even_without_a_sqlstate",
    ),
    "A class may stand for many causes, and libraries name their own classes like built-in ones.": (
        f"{READERS}/test_sql_postgres.py::test_a_class_that_stands_for_many_codes_stands_for_none",
        f"{READERS}/test_sql_mysql.py::test_the_class_settles_nothing_where_the_number_is_unknown",
        f"{READERS}/test_python.py::test_what_a_librarys_base_class_would_get_wrong_is_settled",
        f"{READERS}/test_python.py::test_a_class_of_the_same_name_in_another_library_is_another_class",
    ),
    "What was created just now may not be visible yet.": (
        f"{READERS}/test_google.py::test_a_job_that_was_made_just_now_may_not_be_visible_yet",
        f"{POLICIES}/test_several_tries.py::test_what_is_not_found_fails_but_the_reason_names_what_was_created_just_now",
    ),
    "A permission that was granted just now spreads slowly, and repeated refusals lock accounts.": (
        f"{POLICIES}/test_several_tries.py"
        "::test_refused_access_is_not_tried_again_since_that_locks_accounts_but_the_reason_names_a_fresh_permission",
    ),
    "What is no JSON may be an error page, a login page, nothing at all, or JSON that was cut short.": (
        f"{READERS}/test_json.py::test_what_came_instead_of_json_is_worth_two_more_tries",
        f"{READERS}/test_json.py::test_json_cut_anywhere_is_never_called_bad_data",
        f"{READERS}/test_http_traps.py::test_a_login_page_instead_of_data_is_a_matter_of_credentials",
    ),
    "A file that is damaged may have been cut short by its download.": (
        f"{READERS}/test_damaged_files.py::test_a_file_that_was_cut_short_is_worth_two_more_tries",
        f"{READERS}/test_damaged_files.py::test_a_page_that_came_instead_of_the_file_is_worth_two_more_tries",
    ),
    "A timeout may be a limit that somebody set: it is no network trouble, and worth one more try.": (
        f"{READERS}/test_python.py::test_timeouts_that_are_limits_of_the_task_itself_are_no_network",
        f"{READERS}/test_process.py::test_a_time_limit_on_a_program_is_a_setting_not_a_network",
        f"{POLICIES}/test_several_tries.py::test_what_may_pass_once_is_retried_once",
    ),
    "Out of memory at the job's own limit comes again; on a machine that ran short it may not.": (
        f"{READERS}/test_text_traps.py::TestOutOfMemory::test_the_jobs_own_limit_is_permanent_and_tried_once_more",
        f"{READERS}/test_text_traps.py::TestOutOfMemory::test_a_machine_that_ran_short_is_transient",
        f"{READERS}/test_process.py::test_killed_without_a_reason_may_be_tried_thrice_and_stopped_politely_without_a_cap",
    ),
    "A key that is there already may be this task's own earlier success.": (
        f"{POLICIES}/test_several_tries.py"
        "::test_a_duplicate_key_is_not_retried_blindly_and_may_be_the_tasks_own_earlier_success",
    ),
    "An expired token is renewed by the next process; an expired secret is not.": (
        f"{READERS}/test_azure.py::test_an_expired_token_of_the_resource_manager_is_tried_once_more",
        f"{READERS}/test_google.py::test_a_token_that_could_not_be_refreshed_says_why",
        f"{POLICIES}/test_several_tries.py::test_what_may_pass_once_is_retried_once",
    ),
    "SQLAlchemy's code is an id of its documentation, and some of its errors echo an earlier one.": (
        f"{READERS}/test_http_traps.py::test_the_documentation_id_of_sqlalchemy_is_no_code_of_an_answer",
        f"{READERS}/test_sql_classes.py::test_a_session_that_must_be_rolled_back_says_what_the_original_error_said",
        f"{READERS}/test_sql_classes.py::test_the_task_s_own_exhausted_pool_is_no_lost_network",
    ),
    "An AirflowException says nothing itself: the cause, the context, its argument or its words do.": (
        f"{READERS}/test_text_traps.py::TestWrappers::test_an_airflow_exception_tells_what_it_wraps",
        f"{READERS}/test_airflow.py::test_the_constant_status_of_airflows_classes_is_no_http_status",
        "tests/evidence/test_conclusion.py::test_clean_up_that_fails_does_not_mask_the_first_error",
    ),
    "A group is not its first member: one that must fail decides, else the longest wait.": (
        "tests/evidence/test_collect_libraries.py::test_a_task_group_gives_its_members",
        "tests/evidence/test_conclusion.py::test_one_member_that_must_fail_fails_the_group",
        "tests/evidence/test_conclusion.py::test_a_group_that_may_be_retried_waits_for_its_slowest_member",
    ),
    "A wrapper around retries prints its own budget, and not why they failed.": (
        f"{READERS}/test_http_traps.py::test_the_cause_of_a_retry_loop_is_read_not_its_budget",
        f"{READERS}/test_http_traps.py::test_max_retries_of_a_refused_connection_name_no_status",
        f"{READERS}/test_text_traps.py::TestWrappers::test_a_retry_error_that_prints_a_future_says_nothing_itself",
    ),
    "An SDK's flag that says retryable is for its own loop.": (
        f"{READERS}/test_azure.py::test_the_flag_of_service_bus_is_for_its_own_loop",
        f"{READERS}/test_http_traps.py::test_a_retry_after_on_a_wrong_request_does_not_make_it_right",
    ),
    "Retryable is not safe: the write may have happened.": (
        f"{READERS}/test_http_status.py::test_a_post_whose_outcome_is_unknown_says_so",
        f"{READERS}/test_azure.py::test_a_request_that_was_never_sent_is_told_from_one_whose_outcome_is_unknown",
    ),
    "A 5xx may blame the request, or hide a reason that its client did not know.": (
        f"{READERS}/test_http_traps.py::test_a_5xx_whose_code_blames_the_request_is_not_tried_for_ever",
        f"{READERS}/test_google.py::test_a_job_that_failed_for_an_unknown_reason_is_no_server_error",
    ),
    "An answer with status 200 may be an error.": (
        f"{READERS}/test_http_traps.py::test_an_error_inside_a_200_counts",
        f"{READERS}/test_http_traps.py::test_a_stopped_job_of_bigquery_is_over_although_its_code_is_200",
        f"{READERS}/test_aws.py::test_an_error_in_an_answer_with_status_200_is_an_error",
    ),
    "Headers about resets come with success too, in many units and by another clock, and ask for absurd waits.": (
        f"{READERS}/test_wait_headers.py::test_a_budget_that_is_left_is_no_reason_to_wait_even_on_a_rate_limit",
        f"{READERS}/test_wait_headers.py::test_the_same_wait_reads_the_same_in_every_form",
        f"{READERS}/test_wait_headers.py::test_a_date_is_measured_against_the_clock_of_the_server",
        f"{POLICIES}/test_evidence_policy.py::test_an_absurd_ask_is_never_obeyed",
    ),
    "A refused connection or an unknown host may be a wrong address as well as a service that restarts.": (
        f"{READERS}/test_connections.py::test_a_refused_connection_is_retried_after_a_while_without_a_cap",
        f"{READERS}/test_dns.py::test_a_resolvers_error_is_read_alive_and_from_its_log",
        f"{POLICIES}/test_several_tries.py"
        "::test_a_connection_that_is_refused_at_every_try_is_retried_to_the_end_and_the_reason_says_what_to_check",
    ),
    "Limits on rate, concurrency, size, time and accounts share their words: the units tell which was hit.": (
        f"{READERS}/test_limits.py::test_the_units_name_the_limit",
        f"{READERS}/test_limits.py::test_a_limit_without_units_is_a_hint",
    ),
    "The same failure twice in a row, when nobody could judge it, will not pass by waiting.": (
        f"{POLICIES}/test_evidence_policy_in_airflow.py::test_the_same_unsure_failure_twice_in_a_row_fails",
        f"{POLICIES}/test_several_tries.py::test_other_failures_in_a_row_are_not_one_failure_that_repeats",
    ),
}
"""What is true where the obvious reading is wrong, and where that is tested."""


@pytest.fixture(scope="module")
def collected() -> set[str]:
    """The tests of the files that are named above, without their parameters."""
    files = sorted({node.partition("::")[0] for nodes in TRAPS.values() for node in nodes})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files]
    done = subprocess.run(command, cwd=ROOT, env=dict(os.environ), check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return {line.partition("[")[0] for line in done.stdout.splitlines() if "::" in line}


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_is_held_by_tests_that_are_there(trap: str, collected: set[str]) -> None:
    assert TRAPS[trap]
    assert set(TRAPS[trap]) - collected == set()


def test_no_trap_is_listed_twice_and_none_has_gone() -> None:
    assert len(TRAPS) == 27
    assert len(set(map(str.casefold, TRAPS))) == len(TRAPS)
