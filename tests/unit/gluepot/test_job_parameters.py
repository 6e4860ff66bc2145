import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.core.errors import ConfigError
from gluepot.core.job_parameters import LACKING, MEANINGLESS, JobParameters


def parse(*arguments, **more):
    return JobParameters.parse(["/jobs/clicks.py", *arguments], new_hex=lambda: "ab" * 32, **more)


def test_without_parameters_name_and_ids_are_made_up():
    parameters = parse()
    assert parameters == JobParameters(
        argv=(
            "/jobs/clicks.py",
            *("--JOB_NAME", "clicks"),
            *("--JOB_RUN_ID", "jr_" + "ab" * 32),
            *("--JOB_ID", "j_" + "ab" * 32),
        ),
        job_name="clicks",
        run_id="jr_" + "ab" * 32,
        job_id="j_" + "ab" * 32,
    )


def test_ids_are_new_each_time():
    first, second = (JobParameters.parse(["job.py"]) for _ in range(2))
    assert re.fullmatch(r"jr_[0-9a-f]{64}", first.run_id)
    assert first.run_id != second.run_id


def test_name_and_ids_that_are_given_stay_and_are_not_repeated():
    given_ids = ("--JOB_NAME", "shop", "--JOB_RUN_ID=jr_1", "--JOB_ID", "j_1")
    parameters = parse(*given_ids)
    assert (parameters.job_name, parameters.run_id, parameters.job_id) == ("shop", "jr_1", "j_1")
    assert parameters.argv == ("/jobs/clicks.py", *given_ids)


@given(st.lists(st.text()))
def test_the_script_sees_every_argument_in_order(arguments):
    try:
        argv = parse(*arguments).argv
    except ConfigError:
        return
    assert argv[len(argv) - len(arguments) :] == tuple(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--conf", "spark.a=b --conf spark.c=d=e"),
        ("--conf=spark.a=b --conf spark.c=d=e",),
        ("--conf", "spark.a=b", "--conf", "spark.c=d=e"),
        ("--conf", " spark.a=b   --conf=spark.c=d=e "),
        ("--conf", "spark.a=x", "--conf", "spark.a=b --conf spark.c=d=e"),
    ],
)
def test_several_spark_settings_come_in_one_value_or_in_many(arguments):
    assert parse(*arguments).conf == {"spark.a": "b", "spark.c": "d=e"}


def test_a_spark_setting_may_hold_blanks():
    conf = parse("--conf", "spark.x=-Da=b -Dc=d --conf spark.y=1").conf
    assert conf == {"spark.x": "-Da=b -Dc=d", "spark.y": "1"}


def test_a_spark_setting_without_a_value_is_refused():
    with pytest.raises(ConfigError, match=r"--conf has 'spark\.a', which is not key=value"):
        parse("--conf", "spark.a")


def test_files_come_as_comma_lists():
    parameters = parse("--extra-py-files", "a.py, b.zip,", "--extra-jars", "x.jar,y.jar", "--extra-files=f")
    assert parameters.extra_py_files == ("a.py", "b.zip")
    assert parameters.extra_jars == ("x.jar", "y.jar")
    assert parameters.extra_files == ("f",)


def test_a_folder_among_python_files_is_refused():
    with pytest.raises(
        ConfigError, match=r"--extra-py-files has 'lib/'; it takes single files that end in \.py, \.zip"
    ):
        parse("--extra-py-files", "a.py,lib/")


@pytest.mark.parametrize(
    "name", ["JOB_NAME", "conf", "extra-py-files", "extra-jars", "extra-files", "datalake-formats"]
)
def test_a_parameter_without_its_value_is_refused(name):
    with pytest.raises(ConfigError, match=f"--{name} has no value"):
        parse(f"--{name}", "--TempDir", "s3://b/tmp")


def test_temp_dir_is_kept():
    assert parse("--TempDir", "s3://b/tmp").temp_dir == "s3://b/tmp"


@pytest.mark.parametrize(
    ("arguments", "enabled"),
    [
        ((), False),
        (("--enable-metrics",), True),
        (("--enable-metrics", ""), True),
        (("--enable-metrics", "false"), True),
    ],
)
def test_metrics_are_on_when_the_flag_is_there_whatever_its_value(arguments, enabled):
    assert parse(*arguments).enable_metrics is enabled


@pytest.mark.parametrize(("value", "first"), [("true", True), ("True", True), ("false", False)])
def test_user_jars_come_first_only_when_true(value, first):
    assert parse("--user-jars-first", value).user_jars_first is first


def test_data_lake_formats_are_a_comma_list():
    assert parse("--datalake-formats", "iceberg,delta").datalake_formats == ("iceberg", "delta")


def test_an_unknown_data_lake_format_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match=r"'icberg'; use hudi, delta, iceberg\. Did you mean 'iceberg'\?"):
        parse("--datalake-formats", "icberg")


@pytest.mark.parametrize(("enabled", "path"), [("true", "/logs"), ("false", None)])
def test_event_logs_are_written_only_with_the_spark_ui(enabled, path):
    parameters = parse("--enable-spark-ui", enabled, "--spark-event-logs-path", "/logs")
    assert parameters.spark_event_logs_path == path


def test_event_logs_go_to_our_own_folder_if_no_other_is_named():
    assert parse("--enable-spark-ui", "true").spark_event_logs_path == ""


def test_executor_cores_are_a_number():
    assert parse("--executor-cores", "4").executor_cores == 4


@pytest.mark.parametrize("cores", ["0", "-1", "many", ""])
def test_executor_cores_that_are_no_number_above_zero_are_refused(cores):
    with pytest.raises(ConfigError, match=f"--executor-cores is '{cores}'"):
        parse(f"--executor-cores={cores}")


def test_environment_variables_may_be_quoted_and_must_begin_with_customer():
    parameters = parse(
        "--customer-driver-env-vars",
        """CUSTOMER_A=1, CUSTOMER_B="v, w",PATH=/evil,CUSTOMER_C='x=y'""",
        "--customer-executor-env-vars",
        "CUSTOMER_D=",
    )
    assert parameters.driver_env_vars == {"CUSTOMER_A": "1", "CUSTOMER_B": "v, w", "CUSTOMER_C": "x=y"}
    assert parameters.executor_env_vars == {"CUSTOMER_D": ""}


def test_only_python_scripts_are_run():
    with pytest.raises(ConfigError, match="--job-language is 'scala'; only python scripts run here"):
        parse("--job-language", "scala")


@pytest.mark.parametrize(("value", "enabled"), [("true", True), ("false", False), ("", True)])
def test_lineage_is_told_where_the_parameter_says_so(value, enabled):
    assert parse("--enable-data-lineage", value).enable_data_lineage is enabled
    assert not parse().enable_data_lineage


def test_parameters_without_a_meaning_are_listed_with_the_reason():
    ignored = parse("--enable-job-insights", "true", "--my-own", "x", "--class", "Main").ignored
    assert [(one.name, one.reason) for one in ignored] == [
        ("enable-job-insights", "logs go to stderr"),
        ("class", "it names a Scala class"),
    ]


@pytest.mark.parametrize("name", sorted(MEANINGLESS))
def test_a_parameter_without_a_meaning_never_fails_a_job(name):
    assert [one.name for one in parse(f"--{name}", "x").ignored] == [name]


def test_the_glue_version_comes_from_our_own_flag():
    assert parse(glue_version="5.0").glue_version == "5.0"


def test_an_unknown_glue_version_is_refused():
    with pytest.raises(ConfigError, match=r"'9\.9' is not known"):
        parse(glue_version="9.9")


FLAGS = {
    "--enable-auto-scaling": "enable_auto_scaling",
    "--enable-observability-metrics": "enable_observability_metrics",
    "--enable-data-lineage": "enable_data_lineage",
    "--user-jars-first": "user_jars_first",
}


@pytest.mark.parametrize(("flag", "name"), FLAGS.items())
@pytest.mark.parametrize(
    ("value", "is_on"), [((), True), (("",), True), (("true",), True), (("false",), False), (("0",), False)]
)
def test_a_flag_without_a_value_is_on(flag, name, value, is_on):
    assert getattr(JobParameters.parse(["job.py", flag, *value, "--x", "1"]), name) == is_on


@pytest.mark.parametrize(("value", "path"), [((), ""), (("true",), ""), (("false",), None)])
def test_the_spark_ui_is_on_without_a_value_too(value, path):
    assert JobParameters.parse(["job.py", "--enable-spark-ui", *value]).spark_event_logs_path == path


def test_modules_and_options_of_pip_are_read_and_options_may_begin_with_dashes():
    given = parse(
        "--additional-python-modules", "a==1,s3://b/c.whl", "--python-modules-installer-option",
        "--no-index --find-links=/wheels", "--own", "x",
    )  # fmt: skip
    assert given.python_modules.modules == ("a==1", "s3://b/c.whl")
    assert given.python_modules.options == ("--no-index", "--find-links=/wheels")
    assert (given.ignored, given.misspelled) == ((), ())


@pytest.mark.parametrize("value", ["tru", "enabled", " "])
def test_a_flag_that_says_neither_true_nor_false_is_told(value):
    given = parse("--enable-auto-scaling", value, "--enable-spark-ui", "", "--enable-metrics", value)
    assert not given.enable_auto_scaling
    [ignored] = given.ignored
    assert (ignored.name, ignored.reason) == ("enable-auto-scaling", f"its value is {value!r}; write true or false")
    assert ignored.name in LACKING


@pytest.mark.parametrize(("value", "uses"), [("False", False), ("no", False), ("0", False), ("", True), ("x", True)])
def test_the_catalog_is_used_unless_a_value_says_false(value, uses):
    assert parse("--enable-glue-datacatalog", value).data_catalog is uses


def test_modules_that_are_not_brought_are_told():
    for name, value in [("python-virtual-env", "s3://b/v.tar.gz"), ("python-modules-installer-option", "--upgrade")]:
        (ignored,) = parse(f"--{name}", value).ignored
        assert ignored.name in LACKING


@pytest.mark.parametrize(
    ("name", "meant"),
    [("job-bookmark-optoin", "job-bookmark-option"), ("JOB_NME", "JOB_NAME"), ("TempDr", "TempDir"), ("mode", None)],
)
def test_a_parameter_that_is_nearly_one_of_glues_is_named(name, meant):
    assert parse(f"--{name}", "x").misspelled == (((name, meant),) if meant else ())
