-- The tables of Parley's tasks in Postgres 12 or later. May be run again: it changes nothing that is there.
-- Run by `parley tasks migrate`, by migrateTasks(pool), or by a migration tool of yours. Workers need the schema of
-- graphile-worker besides, which `parley tasks migrate` makes too.

DO $$ BEGIN
  IF to_regnamespace('parley') IS NULL THEN CREATE SCHEMA parley; END IF;
END $$;

-- One row for each task. Texts that say what it is about are sealed.
CREATE TABLE IF NOT EXISTS parley.tasks (
  id            text        PRIMARY KEY,
  flow          text        NOT NULL UNIQUE,     -- a digest of the flow that became the task
  principal     text        NOT NULL,            -- a digest of who created it
  state         text        NOT NULL DEFAULT 'active',
  head          text,                            -- what the task is, sealed; null when only the mark is left
  parked        text,                            -- the questions, sealed
  note          text,                            -- the message beside the status, sealed
  outcome       text,                            -- how it ended, sealed
  wires         text[]      NOT NULL DEFAULT '{}', -- digests of the keys of its open questions
  fence         integer     NOT NULL DEFAULT 0,  -- grows with each claim
  runs          integer     NOT NULL DEFAULT 0,  -- claims since the last progress
  chunks        integer     NOT NULL DEFAULT 0,  -- the number of the journal's last chunk
  cancelled     boolean     NOT NULL DEFAULT false, -- somebody asked for it while a worker had it
  due           timestamptz,                     -- from when a worker should take it; null: it waits, runs or ended
  lapses        timestamptz,                     -- until when a worker has it
  ttl           bigint      NOT NULL,            -- ms
  poll_interval integer     NOT NULL,            -- ms
  created       timestamptz NOT NULL,
  updated       timestamptz NOT NULL,
  expires       timestamptz NOT NULL,            -- from when it is not there for anybody
  mark_until    timestamptz NOT NULL             -- until when its flow makes no second task
);

-- What the flow recorded, in chunks, sealed.
CREATE TABLE IF NOT EXISTS parley.task_journal (
  task  text    NOT NULL REFERENCES parley.tasks ON DELETE CASCADE,
  seq   integer NOT NULL,
  chunk text    NOT NULL,
  PRIMARY KEY (task, seq)
);

-- Answers to open questions, sealed.
CREATE TABLE IF NOT EXISTS parley.task_answers (
  task  text   NOT NULL REFERENCES parley.tasks ON DELETE CASCADE,
  seq   bigint NOT NULL GENERATED ALWAYS AS IDENTITY, -- in the order in which they came
  wire  text   NOT NULL,
  value text   NOT NULL,
  PRIMARY KEY (task, wire)
);

-- Processes that run tasks. One that was not seen for long is dead, and its locks in graphile-worker are undone.
CREATE TABLE IF NOT EXISTS parley.task_workers (
  pool text        PRIMARY KEY,
  seen timestamptz NOT NULL
);

-- For what is due, for claims that lapsed, and for the removal of what has expired. Waiting tasks are in none of the
-- first two.
CREATE INDEX IF NOT EXISTS tasks_due ON parley.tasks (due) WHERE due IS NOT NULL;
CREATE INDEX IF NOT EXISTS tasks_lapses ON parley.tasks (lapses) WHERE lapses IS NOT NULL;
CREATE INDEX IF NOT EXISTS tasks_expires ON parley.tasks (expires) WHERE head IS NOT NULL;
CREATE INDEX IF NOT EXISTS tasks_mark_until ON parley.tasks (mark_until);

-- For monitoring: how many tasks stand how, and since when the oldest of those that are due waits for a worker.
CREATE OR REPLACE VIEW parley.task_status AS
  SELECT status, count(*) AS tasks, min(due) AS oldest_due
  FROM (
    SELECT due, CASE
      WHEN state <> 'active' THEN state
      WHEN lapses > now() THEN 'running'
      WHEN lapses IS NOT NULL THEN 'lapsed'
      WHEN due <= now() THEN 'due'
      WHEN due IS NOT NULL THEN 'scheduled'
      ELSE 'waiting'
    END AS status
    FROM parley.tasks WHERE expires > now()
  ) AS each
  GROUP BY status;
