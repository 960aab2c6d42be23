BEGIN TRANSACTION;
CREATE TABLE answers (
        id       INT PRIMARY KEY,
        call     TEXT NOT NULL UNIQUE REFERENCES calls (call),
        request  TEXT NOT NULL,
        body     TEXT NOT NULL,
        checksum TEXT NOT NULL
    );
INSERT INTO "answers" VALUES(1,'58cb7d5b8c9d447f809fa710f2bdcada','request','yes','92e30c53f0be37f85e2ba3fbf84cbb14');
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
INSERT INTO "calls" VALUES(1,'58cb7d5b8c9d447f809fa710f2bdcada','request','fake-1',1,'',0,20000000000,1,'2026-11-15T11:42:56.780630+00:00','68dcc9ab94045b553d793714db9792b5');
INSERT INTO "calls" VALUES(2,'5fbb56834aff44ac8e540a2c424f0b9e','cut off','fake-1',1,'',0,20000000000,1,'2026-11-15T11:42:56.785333+00:00','a46d2649c6b081ac9d09d12e40553a1b');
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
INSERT INTO "evaluators" VALUES(1,'brightness','metric','brightness|v:1','{}',1,'2026-11-15T11:42:56.776688+00:00','f47cc6c3851d7b3e7b14c8e235357526');
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
CREATE TABLE items (
        id       INT PRIMARY KEY,
        item     TEXT NOT NULL UNIQUE,
        body     TEXT NOT NULL,
        probe    TEXT,
        start    INTEGER NOT NULL REFERENCES starts (id),
        written  TEXT NOT NULL,
        checksum TEXT NOT NULL
    );
INSERT INTO "items" VALUES(1,'film-1','{"id":"film-1","video":"/films/film-1.mp4","prompt":"prompt 1"}',NULL,1,'2026-11-15T11:42:56.770696+00:00','a0b86a9e503eb4846288122c6a5c1c4d');
INSERT INTO "items" VALUES(2,'film-2','{"id":"film-2","video":"/films/film-2.mp4","prompt":"prompt 2"}',NULL,1,'2026-11-15T11:42:56.770696+00:00','9b5be21cd16a0ed4b754bccf237b9d19');
CREATE TABLE notes (
        id       INT PRIMARY KEY,
        name     TEXT NOT NULL UNIQUE,
        body     TEXT NOT NULL,
        start    INTEGER NOT NULL REFERENCES starts (id),
        written  TEXT NOT NULL,
        checksum TEXT NOT NULL
    );
INSERT INTO "notes" VALUES(1,'remark','{"text": "kept"}',1,'2026-11-15T11:42:56.777405+00:00','838f73a826f982855dbc33ef2b1bab9f');
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
INSERT INTO "plan" VALUES(1,'film-1','brightness','','',0,'brightness|v:1','',1,'599df155746efa2fcaed7df5efffac86');
INSERT INTO "plan" VALUES(2,'film-2','brightness','','',0,'brightness|v:1','',1,'fcc59e67ca4facbd55b6d6a381dc76ca');
INSERT INTO "plan" VALUES(3,'film-3','brightness','','',0,'brightness|v:1','',1,'f710b1a61d42615af3a732b16560ea4b');
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
INSERT INTO "receipts" VALUES(1,'58cb7d5b8c9d447f809fa710f2bdcada','answered','fake-1','',NULL,NULL,10000000000,0,'','2026-11-15T11:42:56.784615+00:00','2d690661a4f8476cbe3c9d048bad67e6');
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
INSERT INTO "records" VALUES(1,'film-1','brightness','','',0,'brightness|v:1','','{"brightness":{"score":{"value":228.42857142857142,"details":{"note":""}}}}','','',114632,1,1,'2026-11-15T11:42:56.755495+00:00','0a9ac77860cc5f518fd88f8c784ac02a');
INSERT INTO "records" VALUES(2,'film-2','brightness','','',0,'brightness|v:1','','{"brightness":{"score":{"value":228.57142857142858,"details":{"note":""}}}}','','',2310,1,1,'2026-11-15T11:42:56.758884+00:00','ea0c97911d3ae4baa9bdc3644eac7659');
INSERT INTO "records" VALUES(3,'film-3','brightness','','',0,'brightness|v:1','','{"brightness":{"failure":{"reason":"refused","detail":"as asked","advice":"Ask for something else."}}}','refused','',347,1,1,'2026-11-15T11:42:56.765127+00:00','5e964781759352f49e0770c1d722249c');
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
INSERT INTO "starts" VALUES(1,'test','{"for": "later releases"}','0.1.0','vm',23353,'2026-11-15T11:42:56.625731+00:00','2026-11-15T11:42:56.792395+00:00','finished','430bd12f71073e2fc4a0d690947426ac');
CREATE INDEX answers_by_request ON answers (request);
COMMIT;
PRAGMA application_id = 1396920916;
PRAGMA user_version = 2;
