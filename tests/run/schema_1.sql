BEGIN TRANSACTION;
CREATE TABLE answers (
        id       INT PRIMARY KEY,
        call     TEXT NOT NULL UNIQUE REFERENCES calls (call),
        request  TEXT NOT NULL,
        body     TEXT NOT NULL,
        checksum TEXT NOT NULL
    );
INSERT INTO "answers" VALUES(1,'aa9c014de7b84cc49a62bfd85eb4119e','request','yes','dff4d36423485e0f2a5b26141d07f623');
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
INSERT INTO "calls" VALUES(1,'aa9c014de7b84cc49a62bfd85eb4119e','request','fake-1',1,'',0,20000000000,1,'2026-11-15T09:35:50.743950+00:00','df1e297ecf810c4c27e8ae06c5ee303c');
INSERT INTO "calls" VALUES(2,'1b1ee614bb744e4cade9fc18284ad518','cut off','fake-1',1,'',0,20000000000,1,'2026-11-15T09:35:50.754636+00:00','0705554d5ac4ed70e2bc02c3da24deb7');
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
INSERT INTO "receipts" VALUES(1,'aa9c014de7b84cc49a62bfd85eb4119e','answered','fake-1','',NULL,NULL,10000000000,0,'','2026-11-15T09:35:50.750099+00:00','8851929347221aaa0865cb93d40d4266');
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
INSERT INTO "records" VALUES(1,'film-1','brightness','','',0,'brightness|v:1','','{"brightness":{"score":{"value":228.42857142857142,"details":{"note":""}}}}','','',216665,1,1,'2026-11-15T09:35:50.724549+00:00','7cc474b28e06510ccc87a9608894dc2f');
INSERT INTO "records" VALUES(2,'film-2','brightness','','',0,'brightness|v:1','','{"brightness":{"score":{"value":228.57142857142858,"details":{"note":""}}}}','','',2022,1,1,'2026-11-15T09:35:50.733587+00:00','7072307922a3b7fe67927046efa25593');
INSERT INTO "records" VALUES(3,'film-3','brightness','','',0,'brightness|v:1','','{"brightness":{"failure":{"reason":"refused","detail":"as asked","advice":"Ask for something else."}}}','refused','',256,1,1,'2026-11-15T09:35:50.735596+00:00','602035996960d0db1e7d90b60c58a112');
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
INSERT INTO "starts" VALUES(1,'test','{"for": "later releases"}','0.1.0','vm',14035,'2026-11-15T09:35:50.475340+00:00','2026-11-15T09:35:50.737319+00:00','finished','a5aec5cf519107b1f1c1a7f46446b452');
CREATE INDEX answers_by_request ON answers (request);
COMMIT;
PRAGMA application_id = 1396920916;
PRAGMA user_version = 1;
