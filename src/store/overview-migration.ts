// The migration that made what the overview of keys and the reports read instead of everything; migrations.ts has its
// version.
import type { Statement } from './migrations.ts'

export const OVERVIEW_STATEMENTS: readonly Statement[] = [
  'ALTER TABLE keys ADD COLUMN model_count INTEGER NOT NULL DEFAULT 0',
  `UPDATE keys SET model_count =
    (SELECT count(*) FROM key_models WHERE key_models.key_id = keys.id)`,
  // One for each order of the list, with what a page gives and a search compares: the rows themselves are not read.
  'CREATE INDEX keys_by_name ON keys (name, id, owner)',
  'CREATE INDEX keys_by_owner ON keys (owner, id)',
  'CREATE INDEX keys_by_last_use ON keys (last_used_at, id)',
  'CREATE INDEX keys_by_model_count ON keys (model_count, id)',
  'CREATE INDEX keys_unused ON keys (last_used_at, created_at) WHERE revoked_at IS NULL',
  'CREATE INDEX key_models_by_model ON key_models (model, key_id)',
  // Only columns of accounts that no request changes: balances stay out of the indexes.
  'CREATE INDEX accounts_by_expiry ON accounts (expires_at, id)',
  'CREATE INDEX accounts_by_status ON accounts (status, expires_at, id)',
  'DROP INDEX keys_name',
  'DROP INDEX keys_last_used_at',
  'DROP INDEX key_models_model',
  // The frame's sums of the past; the ledger keeps them up to date from now on.
  `INSERT INTO rollups
    SELECT span, starts_at, 'frame', model, sum(requests), sum(errors), sum(refused), sum(estimated),
      sum(input_tokens), sum(cached_tokens), sum(cache_write_tokens), sum(output_tokens),
      sum(reasoning_tokens), sum(cost_nanodollars)
    FROM rollups GROUP BY span, starts_at, model`,
]
