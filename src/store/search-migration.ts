// The migration that made the columns that searches for keys read; migrations.ts has its version.
import { sql } from 'kysely'

import { fold } from './fold.ts'
import type { Statement } from './migrations.ts'
import type { Tx } from './tables.ts'

export const SEARCH_STATEMENTS: readonly Statement[] = [
  "ALTER TABLE keys ADD COLUMN folded_text TEXT NOT NULL DEFAULT ''",
  "ALTER TABLE keys ADD COLUMN folded_tags TEXT NOT NULL DEFAULT ''",
  foldKeys,
  'DROP INDEX keys_by_name',
  'CREATE INDEX keys_by_name ON keys (name, id, folded_text)',
]

const KEYS_AT_ONCE = 1_000

async function foldKeys(tx: Tx): Promise<void> {
  for (let last = ''; ;) {
    const keys = await tx
      .selectFrom('keys')
      .select(['id', 'name', 'owner', 'tags'])
      .where('id', '>', last)
      .orderBy('id')
      .limit(KEYS_AT_ONCE)
      .execute()
    if (keys.length === 0) return
    const rows = keys.map(
      ({ id, name, owner, tags }) =>
        sql`(${id}, ${fold(`${name}\n${owner ?? ''}`)}, ${fold(tags)})`,
    )
    // In one statement: a hundred thousand keys take seconds this way, and minutes one by one.
    await sql`
      WITH folded (id, text, tags) AS (VALUES ${sql.join(rows)})
      UPDATE keys SET folded_text = folded.text, folded_tags = folded.tags
      FROM folded WHERE keys.id = folded.id`.execute(tx)
    last = keys.at(-1)?.id ?? ''
  }
}
