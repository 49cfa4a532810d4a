"""Runs the queries of examples/archive-queries/ over records whose answers are known.

sqlglot parses each query as Athena's SQL, and translates it to DuckDB's. A function that Athena does not have fails.
"""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import duckdb
import sqlglot
from sqlglot import exp

SHOP = "shop o'questions"
START = datetime.now(timezone.utc) - timedelta(hours=1)
COLUMNS = ["event_id", "event", "shop_id", "request_id", "received_at", "sent_at", "outcome", "settled_at", "payload_key"]
COLUMNS += ["body", "date"]


def at(seconds):
    return (START + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")


def record(event, event_id, outcome="Processed", received=0, settled=1, replay=None, shop=SHOP, request="first"):
    values = [event_id, event, shop, request, at(received), "2026-01-31T09:00:00Z", outcome, at(settled), None]
    return values + [None if replay else "{}", START.date().isoformat(), replay and {"name": replay}]


# All ways in which an event gets more than one record.
RECORDS = [
    # Delivered again. Its first message was received twice.
    record("shop.updated", "delivered-again"),
    record("shop.updated", "delivered-again", "Duplicate", settled=2),
    record("shop.updated", "delivered-again", "Stale", received=60, settled=61, request="another"),
    record("shop.updated", "stale", "Stale", received=1, settled=3),
    # Redriven after it had been a dead letter.
    record("review.posted", "redriven", "DeadLettered", received=3, settled=5),
    record("review.posted", "redriven", received=3, settled=600),
    # Archived twice.
    record("user.updated", "renamed", shop="another shop"),
    record("user.updated", "renamed", shop="another shop"),
    record("shop.updated", "stale", received=1, settled=1800, replay="after-the-bug"),
]


def of_shop(event_id, event, received, deliveries, outcome):
    return (event_id, event, "2026-01-31T09:00:00Z", at(received), deliveries, outcome, None, "{}")


DAY = START.date().isoformat()
ANSWERS = {
    "sent-by-shop": [
        of_shop("delivered-again", "shop.updated", 0, 2, "Processed"),
        of_shop("stale", "shop.updated", 1, 1, "Stale"),
        of_shop("redriven", "review.posted", 3, 1, "Processed"),
    ],
    "stale": [(DAY, "review.posted", 1, 0), (DAY, "shop.updated", 2, 1), (DAY, "user.updated", 1, 0)],
}

connection = duckdb.connect(":memory:")
connection.execute("SET TimeZone = 'UTC'")
columns = ", ".join(f'"{name}" VARCHAR' for name in COLUMNS)
connection.execute(f"CREATE TABLE records ({columns}, replay STRUCT(name VARCHAR))")
connection.executemany(f"INSERT INTO records VALUES ({', '.join('?' * (len(COLUMNS) + 1))})", RECORDS)
for file in sorted(Path("examples/archive-queries").glob("*.sql")):
    query = sqlglot.parse_one(file.read_text().replace("SHOP_ID", SHOP.replace("'", "''")), read="athena")
    unknown = [node.name for node in query.find_all(exp.Anonymous)]
    assert not unknown, f"{file}: not known as functions of Athena's: {unknown}"
    rows = connection.execute(query.sql(dialect="duckdb")).fetchall()
    assert rows == ANSWERS[file.stem], f"{file}: {rows}"
    print(f"{file}: {len(rows)} rows, as expected")
