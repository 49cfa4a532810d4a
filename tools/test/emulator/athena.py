"""Makes MiniStack's Athena read a table as Glue describes it, and understand Athena's SQL.

MiniStack 1.5.33 passes the SQL unchanged to DuckDB. Its table is every object below the location, with the columns and
types that DuckDB infers from the JSON. With this patch, sqlglot parses the SQL as Athena's and translates it. SQL that
Athena does not support fails. The rows have the table's columns and partitions, read with the properties of its SerDe.
Sources: Athena user guide, "Partition projection" and "OpenX JSON SerDe".
"""

import asyncio
import gzip
import json
import re

import duckdb
import sqlglot
from ministack.services import athena, glue, s3
from ministack.services.firehose import _hive_to_duckdb_type
from sqlglot import exp


def correct():
    athena._run_duckdb = run


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
        names = [column[0] for column in result.description]
        return {"columns": names, "column_types": ["varchar"] * len(names), "rows": [list(row) for row in result.fetchall()]}


def rows(table):
    """The rows of a table: the values of its columns, then those of its partition."""
    parameters = table["Parameters"]
    serde = table["StorageDescriptor"]["SerdeInfo"]
    if serde["SerializationLibrary"] != "org.openx.data.jsonserde.JsonSerDe" or parameters["projection.enabled"] != "true":
        raise ValueError("Only a table of projected partitions of JSON can be read here")
    columns = [column["Name"] for column in table["StorageDescriptor"]["Columns"]]
    fields = [serde["Parameters"].get(f"mapping.{name}", name) for name in columns]
    bucket, template = re.fullmatch("s3://([^/]+)/(.*)", parameters["storage.location.template"]).groups()
    place = re.compile(re.sub(r"\\\$\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(template)))
    for key in sorted(s3._buckets[bucket]["objects"]):
        match = place.match(key)
        if match is None:
            continue
        partition = [match[column["Name"]] for column in table["PartitionKeys"]]
        for line in gzip.decompress(s3._get_object_data(bucket, key)).decode().splitlines():
            record = json.loads(line)
            yield [record.get(field) for field in fields] + partition
