    CREATE TABLE items (
        id       INT PRIMARY KEY,
        item     TEXT NOT NULL UNIQUE,
        body     TEXT NOT NULL,
        probe    TEXT,
        start    INTEGER NOT NULL REFERENCES starts (id),
        written  TEXT NOT NULL,
        checksum TEXT NOT NULL
    );
    CREATE TABLE evaluators (
        id        INT PRIMARY KEY,
        evaluator TEXT NOT NULL,
        kind      TEXT NOT NULL,
        signature TEXT NOT NULL,
        about     TEXT NOT NULL,
        start     INTEGER NOT NULL REFERENCES starts (id),
        written   TEXT NOT NULL,
        checksum  TEXT NOT NULL,
        UNIQUE (kind, evaluator, signature)
    );
    CREATE TABLE notes (
        id       INT PRIMARY KEY,
        name     TEXT NOT NULL UNIQUE,
        body     TEXT NOT NULL,
        start    INTEGER NOT NULL REFERENCES starts (id),
        written  TEXT NOT NULL,
        checksum TEXT NOT NULL
    );
