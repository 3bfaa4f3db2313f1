// One rule for integers on both databases, so that money is never a float and nothing else is a bigint:
// columns named *_nanodollars are bigint, all others are numbers.
import type {
  KyselyPlugin,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  QueryResult,
  RootOperationNode,
  UnknownRow,
} from 'kysely'

/** Expects every integer as a bigint, as SQLite's worker and PostgreSQL's type parsers deliver them. */
export class IntegerPlugin implements KyselyPlugin {
  transformQuery(args: PluginTransformQueryArgs): RootOperationNode {
    return args.node
  }

  async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    for (const row of result.rows) {
      for (const [name, value] of Object.entries(row)) {
        if (typeof value === 'bigint' && !name.endsWith('_nanodollars')) {
          row[name] = toNumber(name, value)
        }
      }
    }
    return result
  }
}

function toNumber(name: string, value: bigint): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new RangeError(`column ${name} holds ${value}`)
  return number
}
