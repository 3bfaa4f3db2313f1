// The administration interface as people use it: a separate gateway, a real browser, and an administrator who came by
// the link of the first start. With PICTURES=1, pictures go to test/artifacts for review.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { start } from '../process.ts'
import type { Running } from '../process.ts'
import { launchBrowser } from './chromium.ts'

export type WebStage = AsyncDisposable & {
  readonly gateway: Running
  readonly browser: Browser
  readonly url: string
  /** The link that the first start printed. */
  readonly setupLink: string
  readonly env: NodeJS.ProcessEnv
  /** Closes browser and gateway, and leaves no file behind. */
  close(): Promise<void>
}

export const administrator = {
  email: 'ann@example.com',
  name: 'Ann',
  password: 'a sentence that is long enough',
}

/**
 * `name`: a host name to open it under, as if the gateway were another machine on the network. `config`: the text of a
 * tollgate.yaml.
 */
export async function openWebStage(name?: string, config?: string): Promise<WebStage> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-web-'))
  const file = join(folder, 'tollgate.yaml')
  if (config !== undefined) writeFileSync(file, config)
  const env = {
    ...process.env,
    TOLLGATE_DATABASE: `sqlite:${join(folder, 't.db')}`,
    ...(config === undefined ? {} : { TOLLGATE_CONFIG: file }),
  }
  const gateway = start(process.execPath, ['bin/tollgate.mjs', 'serve', '--port', '0'], { env })
  const [printed] = await gateway
    .printed(/http:\/\/127\.0\.0\.1:\d+\/welcome#\S+/)
    .catch(async (error: unknown) => {
      // Nobody else could stop it, and the test would wait for it for ever.
      await gateway.stop()
      throw error
    })
  const setupLink = name === undefined ? printed : printed.replace('127.0.0.1', name)
  const browser = await launchBrowser(name === undefined ? [] : [name])
  const close = async () => {
    await browser.close()
    await gateway.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  const url = new URL(setupLink).origin
  return { gateway, browser, url, setupLink, env, close, [Symbol.asyncDispose]: close }
}

/** A stage with the first administrator signed in on a page of it. */
export type SignedInWeb = WebStage & {
  readonly context: BrowserContext
  readonly page: Page
  /** What the browser has reported so far (watchComplaints). */
  readonly complaints: readonly string[]
  /** Opens a path, on this page by default, and waits until nothing on it is loading. */
  open(path: string, on?: Page): Promise<void>
  /** Goes to a path as a link on the page would, which takes a fraction of the work of loading the page again. */
  follow(path: string, on?: Page): Promise<void>
  /** A request of the administrator, as the interface itself would send it. */
  ask(method: string, path: string, data?: unknown): Promise<Record<string, unknown>>
}

/** `config`: the text of a tollgate.yaml. */
export async function openSignedInWeb(config?: string): Promise<SignedInWeb> {
  const stage = await openWebStage(undefined, config)
  const page = await newVisitor(stage)
  const context = page.context()
  const complaints = watchComplaints(page)
  await becomeAdministrator(page, stage.setupLink)
  return {
    ...stage,
    context,
    page,
    complaints,
    open: async (path, on = page) => {
      await on.goto(stage.url + path)
      await loaded(on)
    },
    follow: async (path, on = page) => {
      // Ends when the page is rendered; the router is there for its developer tools.
      await on.evaluate(`__TSR_ROUTER__.navigate({ href: '${path}' })`)
      await loaded(on)
    },
    ask: (method, path, data) => send(context, stage.url, { method, path, data }),
  }
}

/** A page of somebody who is not signed in. Without motion: half faded in, text does not have its final contrast. */
export async function newVisitor({ browser }: Pick<WebStage, 'browser'>): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-US', reducedMotion: 'reduce' })
  return context.newPage()
}

/** The id and the secret of a new key, which has a budget of 1 USD for the sandbox unless `more` says otherwise. */
export async function newKey(
  { ask }: Pick<SignedInWeb, 'ask'>,
  name: string,
  more: object = {},
): Promise<{ readonly id: string; readonly secret: string }> {
  const settings = { name, models: ['sandbox-chat'], budget: '1', ...more }
  const { id, secret } = await ask('POST', '/keys', settings)
  return { id: String(id), secret: String(secret) }
}

async function loaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
}

/** One small call, as a program makes it. */
export async function callModel(url: string, secret: string, content: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sandbox-chat',
      max_tokens: 4_000,
      messages: [{ role: 'user', content }],
    }),
  })
}

/** Creates the first administrator through the pages, and ends on the overview. */
export async function becomeAdministrator(page: Page, setupLink: string): Promise<void> {
  await page.goto(setupLink)
  await page.getByLabel('E-mail address').fill(administrator.email)
  await page.getByLabel('Your name').fill(administrator.name)
  await page.getByLabel('New password').fill(administrator.password)
  await page.getByRole('button', { name: 'Create administrator' }).click()
  await page.getByRole('heading', { name: 'API access' }).waitFor()
}

/** Collects what the browser reports: errors, warnings, and everything that a policy forbids. */
export function watchComplaints(page: Page): string[] {
  const complaints: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  return complaints
}

/** A request of somebody who is signed in, as the interface itself would send it. */
export async function send(
  context: BrowserContext,
  url: string,
  { method, path, data }: { method: string; path: string; data?: unknown },
): Promise<Record<string, unknown>> {
  const response = await context.request.fetch(`${url}/admin/api/v1${path}`, {
    method,
    headers: { origin: url },
    ...(data === undefined ? {} : { data }),
  })
  assert.ok(response.ok(), `${method} ${path}: ${response.status()} ${await response.text()}`)
  return await response.json()
}

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
)

/** What axe finds serious or critical, one line each. */
export function seriousFindings(page: Page): Promise<string[]> {
  return findings(page, { impacts: ['serious', 'critical'] })
}

/** What axe finds, however small, one line each. `within`: a selector of what it looks at, if not at all. */
export function allFindings(page: Page, within?: string): Promise<string[]> {
  return findings(page, { impacts: ['minor', 'moderate', 'serious', 'critical'], within })
}

type Look = { readonly impacts: readonly string[]; readonly within?: string | undefined }

async function findings(page: Page, look: Look): Promise<string[]> {
  // The page's policy forbids scripts from elsewhere; this one gets in through the debugger.
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axeSource)
  const found = await lookOnce(page, look)
  // A transition may have begun meanwhile, as of a colour scheme just chosen: what is wrong is wrong at rest.
  return found.length === 0 ? found : lookOnce(page, look)
}

async function lookOnce(page: Page, { impacts, within }: Look): Promise<string[]> {
  await page.evaluate(STAND_STILL)
  const place = within === undefined ? 'document' : JSON.stringify(within)
  const violations = await page.evaluate<Violation[]>(
    `axe.run(${place}, { resultTypes: ['violations'] }).then((result) => result.violations)`,
  )
  return violations
    .filter(({ impact }) => impacts.includes(impact))
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`))
}

/**
 * However short a transition is, its initial state shows until the next frame, a colour that is inherited begins to change
 * one level deeper with each frame, and one in a closed section when it is first looked at: so there are none.
 */
const STAND_STILL = `(() => {
  if (!window.standsStill) {
    window.standsStill = new CSSStyleSheet()
    window.standsStill.replaceSync('*, ::before, ::after { transition: none !important }')
    document.adoptedStyleSheets.push(window.standsStill)
  }
  document.getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().endTime < Infinity)
    .forEach((animation) => animation.finish())
})()`

/**
 * From wide to narrow in both themes. Everything must fit everywhere; axe, which takes longest, looks at the whole page
 * in dark colours and the narrowest one in light colours: most other tests look at light ones on a wide screen.
 */
const SCREENS = [
  { colorScheme: 'dark', width: 1440, axe: true },
  { colorScheme: 'dark', width: 768, axe: false },
  { colorScheme: 'dark', width: 390, axe: false },
  { colorScheme: 'light', width: 1440, axe: false },
  { colorScheme: 'light', width: 390, axe: false },
  { colorScheme: 'light', width: 320, axe: true },
] as const

/** What is open now has no serious finding, fits on every screen, and `check` holds there. `name`: of its pictures. */
export async function assertOnEveryScreen(
  page: Page,
  name: string,
  check: (width: number) => Promise<void> = async () => undefined,
): Promise<void> {
  for (const { colorScheme, width, axe } of SCREENS) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
    await check(width)
    const screen = `${name}, ${colorScheme}, ${width} pixels`
    assert.deepEqual(await misfits(page), [], screen)
    if (axe) assert.deepEqual(await seriousFindings(page), [], screen)
    await picture(page, `${name}-${colorScheme}-${width}`)
  }
  await page.setViewportSize({ width: 1440, height: 900 })
}

/** Takes an action from the menu of a key or a person. */
export async function choose(page: Page, name: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: action, exact: true }).click()
  // The menu fades out, and axe would find it half visible.
  await page.getByRole('menu').waitFor({ state: 'hidden' })
}

/** Switches the page to German. */
export async function speakGerman(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Language' }).click()
  await page.getByRole('menuitemradio', { name: 'Deutsch' }).click()
  await page.locator('html[lang="de"]').waitFor()
  // The menu stays open for another choice.
  await page.keyboard.press('Escape')
  await page.getByRole('menu').waitFor({ state: 'hidden' })
}

/** What does not fit: the page itself, and controls on it that lie beyond its edge or cut off their text. */
export function misfits(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const found = []
    const { scrollWidth, clientWidth } = document.documentElement
    if (scrollWidth > clientWidth) found.push('the page is ' + scrollWidth + ' pixels wide')
    for (const element of document.querySelectorAll('button, a, [role="tab"], input, select')) {
      if (!element.checkVisibility() || element.closest('.visually-hidden')) continue
      const words = (element.textContent || element.getAttribute('aria-label') || element.id).trim()
      const { left, right, width } = element.getBoundingClientRect()
      // What scrolls sideways by itself, such as a table or a row of tabs, may hold more than is seen.
      const home = element.parentElement.closest('[data-hidden], [role="tablist"], pre')
      const isBeyond = width > 1 && (left < -1 || right > clientWidth + 1)
      if (isBeyond && !home) found.push('beyond the edge: ' + words)
      const label = element.querySelector('.mantine-Button-label')
      if (label && label.scrollWidth > label.clientWidth + 1) found.push('cut off: ' + words)
    }
    return found
  })()`)
}

type Violation = {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly target: readonly string[] }[]
}

export async function picture(page: Page, name: string): Promise<void> {
  if (process.env['PICTURES'] !== '1') return
  await page.evaluate(STAND_STILL)
  const folder = join('test', 'artifacts', 'web')
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
