// The rows of every table, whatever its columns: read page by page, inserted page by page, and added up. tables.ts
// alone says which there are, so a new table or column needs nothing here.
import { CompiledQuery, sql, type UnknownRow } from 'kysely'
import { SCHEMA, type DatabaseKind } from '../database/migrations.ts'
import { TABLES, type Queries, type Tables } from '../database/tables.ts'

export type TableName = keyof Tables

/** In an order in which a table refers only to earlier ones. */
export const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[]

/** As TABLES declares it. */
type Declared = Readonly<Record<string, string>>

export function columnsOf(table: TableName): readonly string[] {
  return Object.keys(TABLES[table])
}

/** A value as it stands in a row. */
type Value = null | number | bigint | string | Uint8Array

/** Its values, in the order of the columns. */
export type Row = readonly Value[]

export type Page = { readonly table: TableName; readonly rows: readonly Row[] }

const ROWS_A_PAGE = 1_000
/** Stored responses: one may have several megabytes. */
const LARGE_ROWS_A_PAGE = 8

/** All rows in the order of their key. To see one moment, `db` must be a transaction that does. */
async function* readPages(db: Queries, table: TableName): AsyncGenerator<Page> {
  const columns = columnsOf(table)
  const key = primaryKeyOf(table)
  const rowsMax = typesOf(table).includes('BLOB') ? LARGE_ROWS_A_PAGE : ROWS_A_PAGE
  const keyColumns = sql.join(key.map((name) => sql.ref(name)))
  for (let last: UnknownRow | undefined; ;) {
    const after =
      last && sql`WHERE (${keyColumns}) > (${sql.join(key.map((name) => last?.[name]))})`
    const { rows } = await sql<UnknownRow>`
      SELECT ${sql.join(columns.map((name) => sql.ref(name)))} FROM ${sql.table(table)}
      ${after ?? sql``} ORDER BY ${keyColumns} LIMIT ${sql.lit(rowsMax)}`.execute(db)
    if (rows.length > 0)
      yield { table, rows: rows.map((row) => columns.map((name) => row[name] as Value)) }
    if (rows.length < rowsMax) return
    last = rows.at(-1)
  }
}

/** The same of every table; `onRows` is called when a page has been taken. */
export async function* readAll(db: Queries, onRows: (count: number) => void): AsyncGenerator<Page> {
  for (const table of TABLE_NAMES)
    for await (const page of readPages(db, table)) {
      yield page
      onRows(page.rows.length)
    }
}

/** SQLite allows no more parameters in a statement. */
const SQLITE_PARAMETERS_MAX = 32_766

export async function insertPage(
  db: Queries,
  kind: DatabaseKind,
  { table, rows }: Page,
): Promise<void> {
  const columns = columnsOf(table)
  const into = `INSERT INTO ${table} (${columns.join(', ')})`
  if (kind === 'postgres') {
    // One array for each column: a thousand rows as parameters of their own would take PostgreSQL five times as long.
    const arrays = typesOf(table).map((type, index) => `$${index + 1}::${ARRAYS[type]}`)
    const values = columns.map((_, index) => rows.map((row) => row[index]))
    const text = `${into} SELECT * FROM unnest(${arrays.join(', ')})`
    await db.executeQuery(CompiledQuery.raw(text, values))
    return
  }
  const place = `(${columns.map(() => '?').join(', ')})`
  const rowsMax = Math.floor(SQLITE_PARAMETERS_MAX / columns.length)
  for (let first = 0; first < rows.length; first += rowsMax) {
    const part = rows.slice(first, first + rowsMax)
    const text = `${into} VALUES ${part.map(() => place).join(', ')}`
    await db.executeQuery(CompiledQuery.raw(text, part.flat()))
  }
}

type Type = 'INTEGER' | 'TEXT' | 'BLOB'

const ARRAYS: Readonly<Record<Type, string>> = {
  INTEGER: 'bigint[]',
  TEXT: 'text[]',
  BLOB: 'bytea[]',
}

/** The type of each column. */
export function typesOf(table: TableName): readonly Type[] {
  const declared: Declared = TABLES[table]
  return Object.values(declared).map((text) => {
    if (text.startsWith('BLOB')) return 'BLOB'
    return text.startsWith('INTEGER') ? 'INTEGER' : 'TEXT'
  })
}

export function isMoney(column: string): boolean {
  return column.endsWith('_nanodollars')
}

/** How many rows a table has, and what each of its columns of money adds up to. */
type Tally = { readonly rows: number; readonly sums: Readonly<Record<string, bigint>> }

const DOLLAR = 1_000_000_000n

async function tallyOf(db: Queries, table: TableName): Promise<Tally> {
  const money = columnsOf(table).filter(isMoney)
  // Dollars and the rest of them apart: limits of many keys add up to more than an integer of SQLite holds.
  const sums = money.map((name) => {
    const [column, dollars] = [sql.ref(name), sql.lit(DOLLAR)]
    return sql`, sum(${column} / ${dollars}) AS ${sql.ref(`whole_${name}`)},
      sum(${column} % ${dollars}) AS ${sql.ref(`rest_${name}`)}`
  })
  const { rows } = await sql<UnknownRow>`
    SELECT count(*) AS counted ${sql.join(sums, sql``)} FROM ${sql.table(table)}`.execute(db)
  const [found = {}] = rows
  const read = (name: string): bigint => BigInt((found[name] ?? 0) as bigint | number)
  return {
    rows: Number(found['counted']),
    sums: Object.fromEntries(
      money.map((name) => [name, read(`whole_${name}`) * DOLLAR + read(`rest_${name}`)]),
    ),
  }
}

export type Tallies = Readonly<Record<TableName, Tally>>

export async function tallyAll(db: Queries): Promise<Tallies> {
  const found: Partial<Record<TableName, Tally>> = {}
  for (const table of TABLE_NAMES) found[table] = await tallyOf(db, table)
  return found as Tallies
}

export function totalRows(tallies: Tallies): number {
  return Object.values(tallies).reduce((sum, { rows }) => sum + rows, 0)
}

/** The first table that is not as it should be, with what is wrong about it; undefined = all are. */
export function whyUnequal(expected: Tallies, found: Tallies): string | undefined {
  for (const table of TABLE_NAMES) {
    const [one, other] = [expected[table], found[table]]
    if (one.rows !== other.rows) return `${table} has ${other.rows} rows and not ${one.rows}`
    for (const [column, sum] of Object.entries(one.sums))
      if (other.sums[column] !== sum)
        return `${column} of ${table} adds up to ${other.sums[column]} and not to ${sum}`
  }
  return undefined
}

/** Beside its column, or beside the columns where it has several. */
function primaryKeyOf(table: TableName): readonly string[] {
  const declared: Declared = TABLES[table]
  const own = Object.keys(declared).filter((name) => declared[name]?.includes('PRIMARY KEY'))
  if (own.length > 0) return own
  const created = SCHEMA.tables.find(
    (each): each is string => typeof each === 'string' && each.startsWith(`CREATE TABLE ${table} `),
  )
  const [, list] = /PRIMARY KEY \(([^)]*)\)/.exec(created ?? '') ?? []
  if (list === undefined) throw new Error(`the table ${table} has no primary key`)
  return list.split(', ')
}
