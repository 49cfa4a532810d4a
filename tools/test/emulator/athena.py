"""Makes MiniStack's Athena read a table as Glue describes it, and understand Athena's SQL.

MiniStack 1.5.33 passes the SQL unchanged to DuckDB. Its table is every object below the location, with the columns and
types that DuckDB infers from the JSON. With this patch, sqlglot parses the SQL as Athena's and translates it. SQL that
Athena does not support fails. The rows are those of the projected partitions, with the table's columns, read with the
properties of its SerDe. The result of a query is stored at its configured location. Sources: Athena user guide,
"Partition projection" and "OpenX JSON SerDe".
"""

import asyncio
import gzip
import json
import re
from datetime import datetime, timedelta, timezone

import duckdb
import sqlglot
from ministack.services import athena, glue, s3
from ministack.services.firehose import _hive_to_duckdb_type
from sqlglot import exp

# Format letters of java.time that our tables use.
DATE_FORMATS = {"yyyy-MM-dd": "%Y-%m-%d"}



def correct():
    athena._run_duckdb = run
    save = athena._save_query_results

    async def save_where_told(query_id):
        """MiniStack would use the name of the result file as a folder."""
        configuration = athena._executions[query_id]["ResultConfiguration"]
        location = configuration["OutputLocation"]
        configuration["OutputLocation"] = location.removesuffix(f"{query_id}.csv")
        await save(query_id)
        configuration["OutputLocation"] = location

    athena._save_query_results = save_where_told


async def run(query, database, catalog=None):
    """MiniStack calls it for a query that is not DDL."""
    statement = translated(query)
    tables = [(key.split("/", 1)[1], table) for key, table in glue._tables.items() if key.startswith(f"{database}/")]
    contents = [(name, table, list(rows(table))) for name, table in tables]
    return await asyncio.to_thread(ask, statement, contents)


def translated(query):
    """Translates Athena's SQL to DuckDB's. Athena's percentiles are exact up to a few thousand values."""
    parsed = sqlglot.parse_one(query, read="athena")
    unknown = sorted({node.name for node in parsed.find_all(exp.Anonymous)})
    if unknown:
        raise ValueError(f"Not known as functions of Athena's: {', '.join(unknown)}")
    for node in parsed.find_all(exp.ApproxQuantile):
        node.replace(exp.func("quantile_disc", node.this, node.args["quantile"]))
    return parsed.sql(dialect="duckdb")


def ask(statement, contents):
    with duckdb.connect(":memory:") as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for name, table, lines in contents:
            columns = table["StorageDescriptor"]["Columns"] + table["PartitionKeys"]
            definitions = ", ".join(f'"{one["Name"]}" {_hive_to_duckdb_type(one["Type"])}' for one in columns)
            connection.execute(f'CREATE TABLE "{name}" ({definitions})')
            if lines:
                connection.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" for _ in columns)})', lines)
        result = connection.execute(statement)
        return {
            "columns": [column[0] for column in result.description],
            "column_types": [
                athena._DUCKDB_TYPE_MAP.get(str(column[1]).upper().split("(")[0], "varchar")
                for column in result.description
            ],
            "rows": [list(row) for row in result.fetchall()],
        }


def rows(table):
    """The rows of a table: the values of its columns, then those of its partition."""
    parameters = table["Parameters"]
    columns = [column["Name"] for column in table["StorageDescriptor"]["Columns"]]
    serde = table["StorageDescriptor"]["SerdeInfo"]
    if serde["SerializationLibrary"] != "org.openx.data.jsonserde.JsonSerDe" or parameters["projection.enabled"] != "true":
        raise ValueError("Only a table of projected partitions of JSON can be read here")
    if serde["Parameters"].get("case.insensitive") != "false":
        raise ValueError("Keys that are not told by their case are not read here")
    fields = [serde["Parameters"].get(f"mapping.{name}", name) for name in columns]

    bucket, template = re.fullmatch("s3://([^/]+)/(.*)", parameters["storage.location.template"]).groups()
    place = re.compile(re.sub(r"\\\$\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(template)))
    for key in sorted(s3._buckets[bucket]["objects"]):
        match = place.match(key)
        if match is None or not all(is_projected(name, value, parameters) for name, value in match.groupdict().items()):
            continue
        partition = [match[column["Name"]] for column in table["PartitionKeys"]]
        for line in gzip.decompress(s3._get_object_data(bucket, key)).decode().rstrip("\n").split("\n"):
            record = parsed_line(line, serde["Parameters"])
            yield [record.get(field) for field in fields] + partition


def parsed_line(line, parameters):
    try:
        return json.loads(line)
    except ValueError:
        if parameters.get("ignore.malformed.json") != "true":
            raise
        return {}


def is_projected(name, value, parameters):
    """Whether a table has a partition with this value."""
    kind = parameters[f"projection.{name}.type"]
    if kind == "enum":
        return value in parameters[f"projection.{name}.values"].split(",")
    first, last = parameters[f"projection.{name}.range"].split(",")
    if kind == "integer":
        return value.isdigit() and len(value) == int(parameters[f"projection.{name}.digits"]) and int(first) <= int(value) <= int(last)
    if kind != "date" or last != "NOW":
        raise ValueError(f"Not known here: projection of {name}")
    days = int(re.fullmatch(r"NOW-(\d+)DAYS", first)[1])
    now = datetime.now(timezone.utc)
    day = datetime.strptime(value, DATE_FORMATS[parameters[f"projection.{name}.format"]])
    return (now - timedelta(days=days)).date() <= day.date() <= now.date()
