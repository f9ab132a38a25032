-- +goose Up

-- One row: what is known of the machine from one run to the next, so that a GPU that was lost or still holds memory is known after a restart.
CREATE TABLE node (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    document TEXT NOT NULL CHECK (json_valid(document))
) STRICT;
