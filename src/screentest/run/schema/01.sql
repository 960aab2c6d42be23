-- Money is in trillionths, times in microseconds: whole numbers are exact and add up.
-- An id is an INT, not an INTEGER: then it has an index, which tells `repair` how many rows there
-- were where pages of the table itself are gone.
    CREATE TABLE starts (
        id        INT PRIMARY KEY,
        command   TEXT NOT NULL,
        arguments TEXT NOT NULL,
        package   TEXT NOT NULL,
        host      TEXT NOT NULL,
        pid       INTEGER NOT NULL,
        started   TEXT NOT NULL,
        ended     TEXT NOT NULL,
        ending    TEXT NOT NULL,
        checksum  TEXT NOT NULL
    );
    CREATE TABLE plan (
        id        INT PRIMARY KEY,
    item      TEXT NOT NULL,
    evaluator TEXT NOT NULL,
    aspect    TEXT NOT NULL,
    "order"   TEXT NOT NULL,
    repeat    INTEGER NOT NULL,
    signature TEXT NOT NULL,
    inputs    TEXT NOT NULL,
        start     INTEGER NOT NULL REFERENCES starts (id),
        checksum  TEXT NOT NULL,
        UNIQUE (item, evaluator, aspect, "order", repeat, signature)
    );
    CREATE TABLE records (
        id         INT PRIMARY KEY,
    item      TEXT NOT NULL,
    evaluator TEXT NOT NULL,
    aspect    TEXT NOT NULL,
    "order"   TEXT NOT NULL,
    repeat    INTEGER NOT NULL,
    signature TEXT NOT NULL,
    inputs    TEXT NOT NULL,
        outcomes   TEXT NOT NULL,
        reasons    TEXT NOT NULL,
        requests   TEXT NOT NULL,
        elapsed_us INTEGER NOT NULL,
        attempts   INTEGER NOT NULL,
        start      INTEGER NOT NULL REFERENCES starts (id),
        written    TEXT NOT NULL,
        checksum   TEXT NOT NULL,
        UNIQUE (item, evaluator, aspect, "order", repeat, signature, inputs)
    );
    CREATE TABLE calls (
        id       INT PRIMARY KEY,
        call     TEXT NOT NULL UNIQUE,
        request  TEXT NOT NULL,
        model    TEXT NOT NULL,
        attempt  INTEGER NOT NULL,
        purpose  TEXT NOT NULL,
        images   INTEGER NOT NULL,
        max_cost INTEGER,
        start    INTEGER NOT NULL REFERENCES starts (id),
        intended TEXT NOT NULL,
        checksum TEXT NOT NULL
    );
    CREATE TABLE receipts (
        id          INT PRIMARY KEY,
        call        TEXT NOT NULL UNIQUE REFERENCES calls (call),
        status      TEXT NOT NULL,
        model       TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        tokens_in   INTEGER,
        tokens_out  INTEGER,
        cost        INTEGER,
        latency_us  INTEGER NOT NULL,
        detail      TEXT NOT NULL,
        received    TEXT NOT NULL,
        checksum    TEXT NOT NULL
    );
    CREATE TABLE answers (
        id       INT PRIMARY KEY,
        call     TEXT NOT NULL UNIQUE REFERENCES calls (call),
        request  TEXT NOT NULL,
        body     TEXT NOT NULL,
        checksum TEXT NOT NULL
    );
    CREATE INDEX answers_by_request ON answers (request);
    CREATE TABLE inputs (
        id       INT PRIMARY KEY,
        path     TEXT NOT NULL UNIQUE,
        size     INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        ctime_ns INTEGER NOT NULL,
        inode    TEXT NOT NULL,
        sha256   TEXT NOT NULL,
        checksum TEXT NOT NULL
    );
