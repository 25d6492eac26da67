"""Statements that fail by themselves in the database of :mod:`servers.postgres`, by what is wrong with them."""

from __future__ import annotations

__all__ = ["STATEMENTS"]

_NESTED = "(" * 20_000 + "1" + ")" * 20_000

STATEMENTS = {
    # What the rows break.
    "a duplicate key": "insert into customers values (1, 'Ada', null)",
    "a missing parent row": "insert into orders (id, customer_id) values (77, 99)",
    "children that are still there": "delete from customers where id = 1",
    "null where none may be": "insert into customers values (5, null, null)",
    "a broken check": "insert into orders (id, customer_id, amount) values (77, 1, -5)",
    "an overlap that is excluded": "insert into bookings values (1, '[2026-01-01,2026-01-31]'),"
    " (1, '[2026-01-15,2026-02-15]')",
    "a row hit twice by an upsert": "insert into customers values (8, 'A', null), (8, 'B', null)"
    " on conflict (id) do update set name = excluded.name",
    "a subquery with two rows": "select (select id from customers)",
    "an exception of a function": "select check_balance(7)",
    # What the values are not.
    "a text that is no number": "select 'n/a'::int",
    "a text that is no date": "select 'yesterday-ish'::date",
    "a day that does not exist": "select '2026-02-30'::date",
    "a label that the enum lacks": "insert into moods values (1, 'angry')",
    "a text that is no JSON": """select '{"id": 1, }'::json""",
    "a division by zero": "select amount / 0 from orders",
    "an integer out of range": "select 2147483647 + 1",
    "a numeric overflow": "insert into orders (id, customer_id, amount) values (77, 1, 12345678.90)",
    "a text too long for its column": "insert into customers values (9, 'A name that is longer than twenty', null)",
    "bytes that are no UTF-8": "select convert_from('\\xff'::bytea, 'UTF8')",
    "a character that another encoding lacks": "select convert_to('Łódź', 'LATIN1')",
    "a zone that does not exist": "set time zone 'Europe/Berlinn'",
    "a logarithm of nothing": "select ln(0)",
    "a broken pattern": "select 'a' ~ '('",
    "a sequence at its end": "select nextval('run_ids'), nextval('run_ids'), nextval('run_ids')",
    "an array of two shapes": "select '{{1,2},{3}}'::int[]",
    # What is not there.
    "a missing table": "select * from invoices",
    "a missing column": "select colour from customers",
    "a missing function": "select total_of(1)",
    "a missing schema": "create table staging.orders (id int)",
    "a missing type": "select 1::money_amount",
    "a missing role": "grant select on customers to analyst",
    "a missing prepared statement": "execute load_orders",
    "a missing cursor": "fetch 10 from orders_cursor",
    "a missing savepoint": "rollback to savepoint before_load",
    "a missing extension": "create extension postgis",
    "a table named like a timeout": "select * from connection_timeout_events",
    "a table named like a deadlock": "select * from deadlock_detected",
    # What is there already.
    "a table that exists": "create table orders (id int)",
    "a type that exists": "create type mood as enum ('x')",
    # What the statement is not.
    "a typo": "selct * from customers",
    "a statement that ends early": "select * from customers where (id = 1",
    "an ambiguous column": "select id from customers, orders",
    "a column that is not grouped": "select name, count(*) from customers",
    "types that do not match": "insert into orders (id, customer_id, placed_at) values (77, 1, 3)",
    "an operator that does not exist": "select 1 + 'x'::text",
    "a conflict target without a constraint": "insert into orders (id, customer_id) values (1, 1)"
    " on conflict (note) do nothing",
    "a table of another database": "select * from other.public.orders",
    "an unknown setting": "set work_memory = '1GB'",
    "a setting that takes no such value": "set work_mem = 'lots'",
    "a setting that only a superuser changes": "set temp_file_limit = '1GB'",
    "a union of unlike types": "select 1 union select now()",
    # What may not be.
    "a table without permission": "select * from secrets",
    "a file of the server without permission": "copy customers from '/data/customers.csv'",
    "a table of somebody else": "drop table customers",
    "a database that may not be created": "create database mine",
    "a role that may not be taken": "set role postgres",
    # What is too much.
    "a recursion without an end": "select deep(1)",
    "a statement nested too deep": f"select {_NESTED}",
    "a text beyond a gigabyte": "select length(repeat('x', 1073741820) || 'xxxxx')",
    "too many columns": f"create temp table wide ({', '.join(f'c{n} int' for n in range(1700))})",
    # What the moment does not allow.
    "a sequence value not drawn yet": "select currval('run_ids')",
    "vacuum within a transaction": "begin; vacuum customers",
    "a write in a read-only transaction": "begin read only; insert into customers values (7, 'Cy', null)",
}
