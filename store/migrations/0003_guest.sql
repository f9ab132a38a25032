-- +goose Up

-- Whether a schedule's plan came over the network, where the machine's list of what is allowed holds.
ALTER TABLE schedules ADD COLUMN guest INTEGER NOT NULL DEFAULT 0 CHECK (guest IN (0, 1));
