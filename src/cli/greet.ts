// What a person at a terminal needs to know once the gateway serves: its address, how to become the first
// administrator, and how to make the first call.
import { hasPeopleManager } from '../admin/people/role-list.ts'
import { adminUrlOf, type Config } from '../config/load.ts'
import type { ConfigSource } from '../config/source.ts'
import type { Store } from '../store/database/store.ts'
import { hasKeys } from '../store/keys/keys.ts'
import { hasPeople } from '../store/people/people.ts'
import { withStore } from './context.ts'
import { printHint } from './output.ts'
import { ownCommand } from './own-command.ts'

type Started = { readonly config: Config; readonly source: ConfigSource }

export async function greet({ config, source }: Started, url: string): Promise<void> {
  printHint(`Tollgate is listening on ${url}`)
  const { setupUrl, hasManager, isKeyless } = await withStore(config, async (store) => ({
    setupUrl: await makeSetupUrl(store, adminUrlOf(config, url)),
    hasManager: await hasPeopleManager(store.db),
    isKeyless: !(await hasKeys(store)),
  }))
  const { folder, env } = source
  const command = ownCommand({ program: process.argv[1] ?? '', folder, path: env['PATH'] })
  const file = source.options?.config
  const withFile = file === undefined ? '' : ` --config ${JSON.stringify(file)}`
  if (setupUrl !== undefined) {
    printHint(`
There is no administrator yet. Open this link to become the first one; it works once, for 24 hours:

  ${setupUrl}
`)
  } else if (!hasManager) {
    printHint(`
There is no administrator yet. Add one from another terminal, ${whereToPaste(source)}:

  ${command} users create${withFile} --email ADDRESS --role Administrator
`)
  }
  if (isKeyless) {
    printHint(`
There is no key yet. Create one in the interface, or paste this in another terminal, ${whereToPaste(source)}:

  export TOLLGATE_API_KEY=$(${command} keys create${withFile} --name demo --models sandbox-chat --budget 1 --secret-only)
  curl ${url}/v1/chat/completions -H "Authorization: Bearer $TOLLGATE_API_KEY" -H "content-type: application/json" \\
    -d '{"model":"sandbox-chat","messages":[{"role":"user","content":"Hello"}]}'
`)
  }
}

/** Commands in another terminal need the same file and variables to find the same database. */
function whereToPaste({ env }: ConfigSource): string {
  const variables = ['TOLLGATE_CONFIG', 'TOLLGATE_DATABASE'].filter((name) => env[name])
  if (variables.length === 0) return 'in this folder'
  return `in this folder, with the same ${variables.join(' and ')}`
}

/** Where the first administrator sets a password; undefined once there are people. */
async function makeSetupUrl(store: Store, base: string): Promise<string | undefined> {
  if (await hasPeople(store.db)) return undefined
  const { linkUrl, makeSetupLink } = await import('../admin/people/links.ts')
  const token = await makeSetupLink(store)
  return token && linkUrl({ kind: 'setup', token }, base)
}
