// What imports from another gateway have made: how each thing is known there, which one it is here, and the version that
// it was left at.
import { sql } from 'kysely'
import type { Row, Tx } from './database/tables.ts'

export type Imported = Row<'imported'>
type Kind = Imported['kind']

/** By their ids there. */
export async function foundBefore(
  tx: Tx,
  kind: Kind,
  foreignIds: readonly string[],
): Promise<ReadonlyMap<string, Imported>> {
  if (foreignIds.length === 0) return new Map()
  const rows = await tx
    .selectFrom('imported')
    .selectAll()
    .where('kind', '=', kind)
    .where('foreign_id', 'in', foreignIds)
    .execute()
  return new Map(rows.map((row) => [row.foreign_id, row]))
}

export async function remember(tx: Tx, rows: readonly Imported[]): Promise<void> {
  if (rows.length === 0) return
  await tx
    .insertInto('imported')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['kind', 'foreign_id']).doUpdateSet((row) => ({
        subject_id: row.ref('excluded.subject_id'),
        version: row.ref('excluded.version'),
        usage_id: row.ref('excluded.usage_id'),
        seen_at: row.ref('excluded.seen_at'),
      })),
    )
    .execute()
}

/** The names of imported keys that no import has found there since; revoked ones are left out. */
export async function keysUnseenSince(tx: Tx, since: number): Promise<readonly string[]> {
  const rows = await tx
    .selectFrom('imported')
    .innerJoin('keys', 'keys.id', 'imported.subject_id')
    .select('keys.name')
    .where('imported.kind', '=', 'key')
    .where('imported.seen_at', '<', since)
    .where('keys.revoked_at', 'is', null)
    .orderBy('keys.name')
    .limit(UNSEEN_MAX)
    .execute()
  return rows.map(({ name }) => name)
}

const UNSEEN_MAX = 1_000

/**
 * Waits for another import, whose groups and keys this one then finds. And locks the accounts of earlier ones in the
 * order of the ledger, keys first: a batch that runs meanwhile then waits for this one, and never the other way round
 * as well.
 */
export async function lockImported(tx: Tx): Promise<void> {
  await sql`LOCK TABLE imported IN SHARE ROW EXCLUSIVE MODE`.execute(tx)
  for (const kind of ['key', 'group'] as const) {
    await sql`SELECT count(*) FROM (SELECT accounts.id FROM accounts
      JOIN imported ON imported.subject_id = accounts.id WHERE imported.kind = ${kind}
      ORDER BY accounts.id FOR NO KEY UPDATE OF accounts) AS locked`.execute(tx)
  }
}
