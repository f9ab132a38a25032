package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"assay/result"
)

// Node gives what is known of the machine from one run to the next; of one that was never looked at it is ready.
func (s *Store) Node(ctx context.Context) (result.Node, error) {
	n := result.Node{State: result.NodeReady, Marks: []result.Mark{}, Devices: []result.Device{}}
	var raw []byte
	err := s.read.QueryRowContext(ctx, `SELECT document FROM node`).Scan(&raw)
	if errors.Is(err, sql.ErrNoRows) {
		return n, nil
	}
	if err != nil {
		return n, s.explain(err, "read the state of the node")
	}
	if err := json.Unmarshal(raw, &n); err != nil {
		return n, fmt.Errorf("read the state of the node: %w", err)
	}
	return n, nil
}

// PutNode keeps what is known of the machine; what was known before is replaced.
func (s *Store) PutNode(ctx context.Context, n result.Node) error {
	raw, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("encode the state of the node: %w", err)
	}
	_, err = s.write.ExecContext(ctx, `INSERT INTO node (id, document) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET document = excluded.document`, string(raw))
	return s.explain(err, "keep the state of the node")
}
