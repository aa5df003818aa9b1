"""One contract for the registry on both databases: what is committed stays, one writer at a time, and a clear line where the
database is gone."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError

from aggregator.errors import DatabaseError, WorkspaceError
from aggregator.registry import Registry, audit_log, database_url, engines, open_registry
from aggregator.registry.tables import ShareRow, SiteRow, Table, UploadRow
from aggregator.registry.times import now
from shared.errors import ConfigurationError
from tests.aggregator.copied import new_registry
from tests.aggregator.registry import workers
from tests.aggregator.registry.rows import add, share, site
from tests.databases import Database, Postgres


@pytest.fixture
def registry(database: Database, tmp_path: Path) -> Registry:
    return new_registry(tmp_path, database)


def names(registry: Registry) -> list[str]:
    with registry.reading() as session:
        return list(session.scalars(select(SiteRow.name).order_by(SiteRow.name)))


def test_what_is_committed_is_there_for_another(registry: Registry, database: Database) -> None:
    with registry.transaction() as session:
        row = site("north", contact="Łucja, +48 1")
        session.add(row)
    assert row.contact == "Łucja, +48 1"
    assert names(open_registry(database.url, create=False)) == ["north"]


def test_an_error_undoes_all_of_a_transaction(registry: Registry) -> None:
    def work() -> None:
        with registry.transaction() as session:
            audit_log.append(session, "operator", "test", {})
            add(session, site("north"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert names(registry) == []
    with registry.reading() as session:
        assert audit_log.verify(session) == 0


@pytest.mark.parametrize(
    "rows",
    [
        (share(1),),
        (site(state="unknown"),),
        (site(), site()),
        (site(), share(1, state="unknown")),
        (site(), share(1, bundle_sha256="00"), share(2, bundle_sha256="00")),
        *(
            (site(), share(1, state=state), share(1, bundle_sha256="00"))
            for state in ("received", "accepted", "withdrawn")
        ),
    ],
    ids=["no-such-site", "state", "site-twice", "share-state", "bundle-twice", "received", "accepted", "withdrawn"],
)
def test_the_database_refuses_what_must_not_be(rows: tuple[Any, ...], registry: Registry) -> None:
    with pytest.raises(IntegrityError), registry.transaction() as session:
        add(session, *(type(row)(**{k: v for k, v in vars(row).items() if not k.startswith("_")}) for row in rows))
    assert names(registry) == []


def test_a_rejected_share_does_not_use_up_its_number(registry: Registry) -> None:
    with registry.transaction() as session:
        add(session, site(), share(1, state="rejected"), share(1, bundle_sha256="00"))
        assert session.scalar(select(func.count()).select_from(ShareRow)) == 2


def test_numbers_beyond_32_bits_and_any_bytes_come_back(registry: Registry) -> None:
    large, blob = 2**53 - 1, bytes(range(256))
    with registry.transaction() as session:
        add(session, site(), share(large, bundle_bytes=large, tokens=large, manifest=blob, receipt=b""))
    with registry.reading() as session:
        found = session.scalars(select(ShareRow)).one()
        assert (found.sequence, found.bundle_bytes, found.tokens) == (large, large, large)
        assert (found.manifest, found.receipt) == (blob, b"")


def test_a_reader_sees_one_state_and_cannot_write(registry: Registry) -> None:
    with registry.reading() as session:
        assert list(session.scalars(select(SiteRow.name))) == []
        with registry.transaction() as writer:
            add(writer, site("north"))
        assert list(session.scalars(select(SiteRow.name))) == []
    assert names(registry) == ["north"]
    with pytest.raises(DatabaseError), registry.reading() as session:
        add(session, site("south"))
    # The connection goes back to the pool, where a writer takes it.
    with registry.transaction() as session:
        add(session, site("east"))
    assert names(registry) == ["east", "north"]


def test_a_writer_that_has_read_is_not_overtaken(registry: Registry) -> None:
    """Threads that read a number and write the next one: without turns, some would overwrite others."""
    with registry.transaction() as session:
        row = {"id": "one", "site": "north", "bundle_sha256": "00", "bundle_bytes": 9, "offset": 0, "state": "open"}
        add(session, site())
        session.add(UploadRow(**row, created_at=now(), expires_at=now()))

    def count() -> None:
        for _ in range(10):
            with registry.transaction() as session:
                upload = session.get_one(UploadRow, "one")
                upload.offset += 1

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with registry.reading() as session:
        assert session.get_one(UploadRow, "one").offset == 40


def test_processes_that_open_an_empty_database_at_once_make_one_registry(database: Database) -> None:
    started = [workers.start("append", database.url, f"worker-{number}", 10) for number in range(2)]
    assert [process.wait(120) for process in started] == [0, 0]
    with open_registry(database.url, create=False).reading() as session:
        assert audit_log.verify(session) == 20
        assert {event.actor for event in audit_log.events(session)} == {"worker-0", "worker-1"}


def test_a_writer_that_is_killed_leaves_nothing_and_keeps_nobody_waiting(
    registry: Registry, database: Database
) -> None:
    process = workers.start("hang", database.url)
    assert process.stdout is not None
    assert process.stdout.readline() == b"written\n"
    process.kill()
    process.wait()
    with registry.transaction() as session:
        add(session, site("next"))
    assert names(registry) == ["next"]


def test_the_migrations_make_exactly_the_tables(database: Database) -> None:
    open_registry(database.url).close()
    engine = database.engine()
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Table.metadata) == []
    engine.dispose()


def test_a_database_of_a_later_version_is_refused(registry: Registry, database: Database) -> None:
    registry.close()
    database.run("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(WorkspaceError, match=r"expected version \d{4} or earlier, got 9999; update"):
        open_registry(database.url)


def test_an_empty_database_is_a_registry_only_where_one_is_to_be_made(database: Database) -> None:
    if database.path is not None:
        with pytest.raises(DatabaseError, match="unable to open"):
            open_registry(database.url, create=False)
        assert not database.path.exists()
        database.path.touch()
    with pytest.raises(WorkspaceError, match="empty database; restore"):
        open_registry(database.url, create=False)
    assert names(open_registry(database.url)) == []


def test_a_server_that_is_gone_is_a_clear_line_and_its_return_is_enough(postgres: Postgres) -> None:
    registry = open_registry(postgres.new_database())
    with registry.transaction() as session:
        add(session, site("before"))

    def write_while(act: Callable[[], None]) -> None:
        with registry.transaction() as session:
            add(session, site("during"))
            act()

    try:
        with pytest.raises(DatabaseError, match="check that it runs"):
            write_while(postgres.stop)
        for attempt in (registry.transaction, registry.reading):
            with pytest.raises(DatabaseError, match="check that it runs"), attempt() as session:
                session.scalars(select(SiteRow)).all()
    finally:
        postgres.start()
    with registry.transaction() as session:
        add(session, site("after"))
    assert names(registry) == ["after", "before"]


def test_a_reading_that_never_ends_is_ended_and_a_writing_is_not(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "READING_S", 0.3)
    registry = open_registry(postgres.new_database())
    with pytest.raises(DatabaseError, match="its error 57014"), registry.reading() as session:
        session.execute(text("SELECT pg_sleep(20)"))
    with registry.transaction() as session:
        session.execute(text("SELECT pg_sleep(0.5)"))
    assert names(registry) == []


def test_a_connection_whose_other_end_is_gone_without_a_word_ends(postgres: Postgres) -> None:
    registry = open_registry(postgres.new_database())
    with registry.reading() as session:
        driver: Any = session.connection().connection.driver_connection
        found = driver.info.get_parameters()
    assert found["tcp_user_timeout"] == "60000"
    assert [found[f"keepalives{name}"] for name in ("", "_idle", "_interval", "_count")] == ["1", "30", "10", "3"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "registry.sqlite"


def test_a_file_that_is_gone_is_a_clear_line_and_is_never_made_anew(file: Path) -> None:
    registry = open_registry(f"sqlite:///{file}")
    with registry.transaction() as session:
        add(session, site("before"))
    moved = file.rename(file.with_name("moved"))
    for attempt in (registry.transaction, registry.reading):
        with pytest.raises(DatabaseError, match="unable to open"), attempt() as session:
            session.scalars(select(SiteRow)).all()
        assert not file.exists()
    moved.rename(file)
    with registry.transaction() as session:
        add(session, site("after"))
    assert names(registry) == ["after", "before"]


def test_a_file_that_was_exchanged_is_refused_until_the_right_one_is_back(file: Path) -> None:
    """SQLite would lay the log of the lost file over the new one."""
    registry = open_registry(f"sqlite:///{file}")
    with registry.transaction() as session:
        add(session, site("first"))
    lost = file.rename(file.with_name("lost"))
    other = open_registry(f"sqlite:///{file.with_name('other')}")
    other.close()
    file.with_name("other").rename(file)
    before = file.read_bytes()
    for attempt in (registry.transaction, registry.reading):
        with pytest.raises(DatabaseError, match="exchanged"), attempt() as session:
            session.scalars(select(SiteRow)).all()
    assert file.read_bytes() == before
    lost.replace(file)
    assert names(registry) == ["first"]


@pytest.mark.parametrize("content", [b"not a database " * 100, b"SQLite format 3\x00" + bytes(4080)])
def test_a_damaged_file_is_a_clear_line(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    with pytest.raises((DatabaseError, WorkspaceError)) as raised:
        open_registry(f"sqlite:///{file}", create=False)
    assert raised.value.exit_code in (8, 20)
    assert file.read_bytes() == content


def test_a_full_disk_is_a_clear_line_and_undoes_the_transaction(file: Path) -> None:
    registry = open_registry(f"sqlite:///{file}")
    with registry.transaction() as session:
        # Of this connection, the only one that the pool has.
        session.connection().exec_driver_sql("PRAGMA max_page_count = 1")
    with pytest.raises(DatabaseError, match="full"), registry.transaction() as session:
        add(session, site("north"), site("south", contact="x" * 1_000_000))
    registry.close()
    assert names(registry) == []


@pytest.mark.usefixtures("flushed")
def test_what_is_written_waits_for_the_disk(file: Path) -> None:
    registry = open_registry(f"sqlite:///{file}")
    for attempt in (registry.transaction, registry.reading):
        with attempt() as session:
            connection = session.connection()
            found = {
                name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
                for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
            }
        assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30_000}
    assert file.stat().st_mode & 0o077 == 0


def test_a_file_on_a_full_path_is_found_whatever_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "a b?c=d#e%41ü"
    folder.mkdir()
    registry = open_registry(database_url("registry.sqlite", folder))
    with registry.transaction() as session:
        add(session, site())
    registry.close()
    assert [path.name for path in folder.iterdir()] == ["registry.sqlite"]
    moved = Path(shutil.move(folder, tmp_path / "moved"))
    assert names(open_registry(database_url("registry.sqlite", moved), create=False)) == ["north"]


@pytest.mark.parametrize(
    "setting",
    [
        "mysql://host/db",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///x?mode=memory",
        "://",
        "postgresql+pg8000://host/db",
    ],
)
def test_another_kind_of_database_is_refused(setting: str) -> None:
    with pytest.raises(ConfigurationError, match=r"postgresql://.*correct the setting"):
        open_registry(setting)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hunter2@host/db",
        "postgresql://host/db?user=me&password=hunter2",
        "postgresql://me@host/db?sslkey=me.key&sslpassword=hunter2",
    ],
)
def test_a_password_in_the_settings_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigurationError, match="pgpass") as raised:
        database_url(url, Path())
    assert "hunter2" not in str(raised.value)


def test_a_parameter_that_postgresql_does_not_know_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigurationError, match=r"parameter.*correct the setting") as raised:
        open_registry("postgresql://me@127.0.0.1:1/db?sslmod=hunter2")
    assert "hunter2" not in str(raised.value)


def test_an_unreachable_server_is_a_clear_line(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="check that it runs"):
        open_registry(f"postgresql://nobody@/none?host={tmp_path}")
