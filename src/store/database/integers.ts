// The rule for integers, on both databases: money is never a float, and nothing else is a bigint. Expects every integer as a
// bigint, as SQLite's thread and PostgreSQL's type parsers deliver them.
import type {
  KyselyPlugin,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  QueryResult,
  RootOperationNode,
  UnknownRow,
} from 'kysely'

export class IntegerPlugin implements KyselyPlugin {
  transformQuery(args: PluginTransformQueryArgs): RootOperationNode {
    return args.node
  }

  async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    for (const row of result.rows) {
      for (const [name, value] of Object.entries(row)) {
        if (typeof value === 'bigint' && !/nanodollars$/i.test(name)) {
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
