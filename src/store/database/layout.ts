// A table's columns as values: how each field of a row gets into a database, or to another thread as JSON, and back. A row
// names its columns once; reading, writing and packing it follow from that.
import { compileFunction } from 'node:vm'

/** What a database takes. It gives every integer as a bigint; money stays one, the rest become numbers. */
export type Stored = string | number | bigint | null
export type StoredRow = Readonly<Record<string, unknown>>

/** A field of a row: its column, and how its values get into a database, or to another thread, and back. */
type Column<Value> = {
  readonly name: string
  readonly type: 'bigint' | 'text'
  /** Whether a value is stored, and packed, as it is. */
  readonly isPlain: boolean
  write(value: Value): Stored
  /** `now` is the time of the database. */
  read(stored: unknown, now: number): Value
}

export type Columns<Row> = {
  readonly [Field in keyof Row]-?: Column<Exclude<Row[Field], undefined>>
}

type FieldColumn<Row> = Column<Row[keyof Row]> & { readonly field: keyof Row }

/** The columns of a row, in their order; reading, writing and packing it follow from them. */
export type Layout<Row> = {
  readonly columns: readonly FieldColumn<Row>[]
  readonly names: readonly string[]
  readonly read: (stored: StoredRow, now: number) => Row
  readonly write: (row: Row) => Stored[]
  /** For JSON, which has no big integers: an amount that a number cannot hold exactly becomes a string of digits. */
  readonly pack: (row: Row) => Packed[]
  readonly unpack: (values: readonly Packed[]) => Row
}

export function layout<Row extends object>(byField: Columns<Row>): Layout<Row> {
  const fields = Object.keys(byField) as (keyof Row & string)[]
  const columns = fields.map((field) => ({ ...byField[field], field }))
  return { columns, names: columns.map(({ name }) => name), ...writtenOut(columns) }
}

type Functions = 'read' | 'write' | 'pack' | 'unpack'

/** As code, once for each layout: loops over the columns took 4 µs more for every request. */
function writtenOut<Row>(columns: readonly FieldColumn<Row>[]): Pick<Layout<Row>, Functions> {
  type Written = { readonly field: string; readonly name: string; readonly isPlain: boolean }
  const each = (code: (column: Written, index: number) => string): string =>
    columns
      .map(({ field, name, isPlain }, index) =>
        code({ field: String(field), name, isPlain }, index),
      )
      .join(', ')
  const code = `
    const [${each(({ field }) => field)}] = columns
    return {
      read: (stored, now) => ({ ${each(({ field, name }) => `${field}: ${field}.read(stored.${name}, now)`)} }),
      write: (row) => [${each(({ field, isPlain }) => (isPlain ? `row.${field}` : `${field}.write(row.${field})`))}],
      pack: (row) => [${each(({ field, isPlain }) => (isPlain ? `row.${field}` : `packed(${field}.write(row.${field}))`))}],
      unpack: (values) => ({ ${each(({ field, isPlain }, index) => `${field}: ${isPlain ? `values[${index}]` : `${field}.read(values[${index}], 0)`}`)} }),
    }`
  return compileFunction(code, ['columns', 'packed'])(columns, packed)
}

export type Packed = Exclude<Stored, bigint>

function packed(value: Stored): Packed {
  return typeof value === 'bigint' ? packAmount(value) : value
}

export function packAmount(amount: bigint): number | string {
  const number = Number(amount)
  return Number.isSafeInteger(number) ? number : String(amount)
}

export function text<Value extends string>(name: string): Column<Value> {
  const read = (stored: unknown): Value => {
    if (typeof stored !== 'string') throw new TypeError(`column ${name} holds ${String(stored)}`)
    return stored as Value
  }
  return { name, type: 'text', isPlain: true, read, write: (value) => value }
}

export function integer(name: string): Column<number> {
  const read = (stored: unknown): number => {
    const value = Number(stored)
    if (!Number.isSafeInteger(value)) throw new RangeError(`column ${name} holds ${String(stored)}`)
    return value
  }
  return { name, type: 'bigint', isPlain: true, read, write: (value) => value }
}

export function flag(name: string): Column<boolean> {
  const column = integer(name)
  return {
    name,
    type: 'bigint',
    isPlain: false,
    read: (stored) => column.read(stored, 0) === 1,
    write: (value) => (value ? 1 : 0),
  }
}

/** A number or digits only where it was packed. */
export function money(name: string): Column<bigint> {
  const read = (stored: unknown): bigint => {
    if (typeof stored === 'bigint') return stored
    if (typeof stored === 'number' || typeof stored === 'string') return BigInt(stored)
    throw new TypeError(`column ${name} holds ${String(stored)}`)
  }
  return { name, type: 'bigint', isPlain: false, read, write: (amount) => amount }
}

export function nullable<Value>(column: Column<Value>): Column<Value | null> {
  return {
    ...column,
    read: (stored, now) => (stored === null ? null : column.read(stored, now)),
    write: (value) => (value === null ? null : column.write(value)),
  }
}
