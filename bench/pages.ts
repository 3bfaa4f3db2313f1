// `npm run bench -- --pages COMMIT`: how long the overview of the interface takes to be ready on a phone, in this checkout
// beside another commit, in the same rounds: slow 4G, a processor four times as slow, nothing cached.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { start } from '../test/support/process.ts'
import { launchBrowser } from '../test/support/web/chromium.ts'
import { becomeAdministrator, send } from '../test/support/web/web.ts'
import { launcherOf, THIS_CHECKOUT, type Checkout } from './checkout.ts'
import { median, medianRatio, runFolder, share } from './measuring.ts'
import { alignedTable } from './report/table.ts'

const ROUNDS = share(7)
const KEYS = 20
/** What Lighthouse calls slow 4G. */
const SLOW_4G = {
  offline: false,
  latency: 150,
  downloadThroughput: (1.6 * 1024 * 1024) / 8,
  uploadThroughput: (750 * 1024) / 8,
}
const PROCESSOR_TIMES_SLOWER = 4
/** Of the other commit's time, at most. */
const RATIO_MAX = 0.6
const REQUESTS_MAX = 20
const READY_MS_MAX = 120_000

type Stage = { readonly url: string; readonly context: BrowserContext }
type Loaded = { readonly readyMs: number; readonly requests: number; readonly kilobytes: number }

export async function pages(other: Checkout): Promise<number> {
  const browser = await launchBrowser()
  const stages = [await open(browser, other), await open(browser, THIS_CHECKOUT)] as const
  const rounds: (readonly [Loaded, Loaded])[] = []
  for (let round = 0; round < ROUNDS; round++)
    rounds.push([await load(browser, stages[0]), await load(browser, stages[1])])
  await browser.close()
  const column = (which: 0 | 1, figure: keyof Loaded): number =>
    median(rounds.map((round) => round[which][figure]))
  const row = (label: string, figure: keyof Loaded): string[] => {
    const [before, after] = [column(0, figure), column(1, figure)]
    return [label, before.toFixed(0), after.toFixed(0), (after / before).toFixed(2)]
  }
  console.log(
    alignedTable([
      ['overview on slow 4G', other.name, THIS_CHECKOUT.name, `× ${other.name}`],
      row('ready, ms', 'readyMs'),
      row('requests', 'requests'),
      row('transferred, kB', 'kilobytes'),
    ]),
  )
  const ratio = medianRatio(
    rounds.map(([, after]) => after.readyMs),
    rounds.map(([before]) => before.readyMs),
  )
  const requests = column(1, 'requests')
  const isGood = ratio <= RATIO_MAX && requests <= REQUESTS_MAX
  console.log(
    `${isGood ? 'Good' : 'Not good'}: ready in ${ratio.toFixed(2)} × the time of ${other.name} (at most ${RATIO_MAX}), with ${requests} requests (at most ${REQUESTS_MAX}).`,
  )
  return isGood ? 0 : 1
}

/** A gateway of this checkout with some keys, and somebody signed in to it. */
async function open(browser: Browser, { root }: Checkout): Promise<Stage> {
  const folder = join(runFolder(), 'pages')
  mkdirSync(folder)
  const env = { ...process.env, TOLLGATE_DATABASE: `sqlite:${join(folder, 't.db')}` }
  const words = [launcherOf(root), 'serve', '--port', '0']
  const gateway = start(process.execPath, words, { env, cwd: root })
  const [link] = await gateway.printed(/http:\/\/127\.0\.0\.1:\d+\/welcome#\S+/)
  const { origin: url } = new URL(link)
  const context = await browser.newContext({ locale: 'en-US' })
  await becomeAdministrator(await context.newPage(), link)
  for (let index = 0; index < KEYS; index++) {
    const data = { name: `key ${index}`, models: ['sandbox-chat'], budget: '1' }
    await send(context, url, { method: 'POST', path: '/keys', data })
  }
  return { url, context }
}

/** In a browser that has nothing but the session. Ready = the last key of the list is there, and nothing loads any more. */
async function load(browser: Browser, { url, context }: Stage): Promise<Loaded> {
  const fresh = await browser.newContext({
    locale: 'en-US',
    storageState: await context.storageState(),
  })
  const page = await fresh.newPage()
  let requests = 0
  let bytes = 0
  const session = await fresh.newCDPSession(page)
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    requests += 1
    bytes += encodedDataLength
  })
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', SLOW_4G)
  await session.send('Emulation.setCPUThrottlingRate', { rate: PROCESSOR_TIMES_SLOWER })
  const from = performance.now()
  await page.goto(`${url}/settings/api-access`, { waitUntil: 'commit' })
  await ready(page)
  const readyMs = performance.now() - from
  await page.waitForLoadState('networkidle')
  await fresh.close()
  return { readyMs, requests, kilobytes: bytes / 1000 }
}

async function ready(page: Page): Promise<void> {
  await page
    .locator('tbody th a')
    .nth(KEYS - 1)
    .waitFor({ timeout: READY_MS_MAX })
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
}
