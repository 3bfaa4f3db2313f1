// Every page, menu and dialog of the interface with data in it: axe finds nothing there, and nothing is cut off or wider
// than the screen in either language. Axe takes longest, so it looks at each of them once, languages and colour schemes
// taking turns; with ALL=1 it looks at all in both languages and both schemes, and at pages on wide and narrow screens.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import de from '../../../web/src/i18n/de.json' with { type: 'json' }
import en from '../../../web/src/i18n/en.json' with { type: 'json' }
import { openingsIn, type Opening, type Step } from '../../support/web/dialogs.ts'
import { signOnConfig, startOidcProvider, type OidcProvider } from '../../support/oidc.ts'
import { developer, furnish, type Furniture } from '../../support/web/furnished.ts'
import {
  administrator,
  allFindings,
  misfits,
  openSignedInWeb,
  picture,
  speakGerman,
} from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

/** By the name of its picture. Every route of the interface is one of them, which a test below holds. */
const pages: Readonly<Record<string, (ids: Furniture) => string>> = {
  overview: () => '/settings/api-access',
  'overview-roomy': () => '/settings/api-access?roomy=true&frame=open',
  'overview-grouped': () => '/settings/api-access?grouped=true',
  'overview-nothing': () => '/settings/api-access?search=nothing+like+this',
  'key-new': () => '/settings/api-access/new',
  'key-edit': ({ key }) => `/settings/api-access/${key}/edit`,
  'key-usage': ({ key }) => `/settings/api-access/${key}`,
  'key-requests': ({ key }) => `/settings/api-access/${key}?tab=requests`,
  'key-refusals': ({ refused }) => `/settings/api-access/${refused}?tab=requests&outcome=refused`,
  'key-models': ({ key }) => `/settings/api-access/${key}?tab=models`,
  'key-settings': ({ key }) => `/settings/api-access/${key}?tab=settings`,
  'key-activity': ({ key }) => `/settings/api-access/${key}?tab=activity`,
  frame: () => '/settings/api-access/frame',
  'my-keys': () => '/settings/my-keys',
  groups: () => '/settings/groups',
  'group-new': () => '/settings/groups/new',
  'group-edit': ({ group }) => `/settings/groups/${group}/edit`,
  'group-keys': ({ group }) => `/settings/groups/${group}`,
  'group-usage': ({ group }) => `/settings/groups/${group}?tab=usage`,
  'group-members': ({ group }) => `/settings/groups/${group}?tab=members`,
  'group-settings': ({ group }) => `/settings/groups/${group}?tab=settings`,
  'group-activity': ({ group }) => `/settings/groups/${group}?tab=activity`,
  wishes: () => '/settings/wishes',
  models: () => '/settings/models',
  model: () => '/settings/models?open=sandbox-chat',
  usage: () => '/settings/usage',
  'usage-by-model': () => '/settings/usage?by=model&range=24h',
  'usage-compared': () => '/settings/usage?by=provider&compare=true',
  requests: () => '/settings/requests',
  request: ({ request }) => `/settings/requests?open=${request}`,
  refusals: () => '/settings/requests?outcome=refused',
  audit: () => '/settings/audit',
  people: () => '/settings/people',
  roles: () => '/settings/roles',
  profile: () => '/settings/profile',
  alerts: () => '/settings/alerts',
  playground: ({ key }) => `/settings/playground?key=${key}`,
  'admin-api': () => '/settings/admin-api',
  'not-found': () => '/settings/nowhere',
  nowhere: () => '/nowhere/at/all',
}

/** For those who are not signed in. */
const entrances: Readonly<Record<string, (ids: Furniture) => string>> = {
  'sign-in': () => '/sign-in',
  'sign-in-code': () => '/sign-in?next=/settings/models',
  'sign-in-refused': () => '/sign-in?error=already_linked',
  welcome: () => '/welcome#used',
  invitation: ({ invitation }) => new URL(invitation).pathname + new URL(invitation).hash,
  'reset-password': () => '/reset-password#used',
}

type Language = 'en' | 'de'
type Scheme = (typeof schemes)[number]
/** What axe looks at. */
type View = {
  readonly looks: readonly Scheme[]
  readonly width: number
  /** All unless given. */
  readonly within?: string | undefined
}

/** What groups at the provider give: without that there is nothing to try. */
const membership = `people:
  single_sign_on: { groups: { map: [{ value: leads, group: search, role: Manager }] } }
`

/** Six screens of a phone, which no page is above at first sight. */
const tallest = 6 * 844

/** What opens above a page. */
const open = '[role="dialog"], [role="menu"]'

const schemes = ['light', 'dark'] as const

const looksAtAll = process.env['ALL'] === '1'

/** The schemes in which axe looks at the thing of that number in this language. */
function schemesFor(language: Language, index: number): readonly Scheme[] {
  if (looksAtAll) return schemes
  const turns = [{ en: 'light' }, { de: 'dark' }, { en: 'dark' }, { de: 'light' }] as const
  const turn: { readonly [Each in Language]?: Scheme } = turns[index % turns.length] ?? {}
  const scheme = turn[language]
  return scheme === undefined ? [] : [scheme]
}

describe('every page, menu and dialog', () => {
  let web: SignedInWeb
  let page: Page
  let ids: Furniture
  let provider: OidcProvider

  before(async () => {
    provider = await startOidcProvider()
    web = await openSignedInWeb(signOnConfig(provider) + membership)
    ;({ page } = web)
    ids = await furnish(web, provider)
  })
  after(async () => {
    await provider[Symbol.asyncDispose]()
    await web.close()
  })

  test('every address of the router is looked at', async () => {
    const routes = await page.evaluate<string[]>('Object.keys(__TSR_ROUTER__.routesByPath)')
    const seen = Object.values({ ...pages, ...entrances }).map((path) => path(ids).split(/[?#]/)[0])
    const isSeen = (route: string): boolean => {
      const pattern = route.replace(/\/$/, '').replaceAll(/\$\w*/g, '[^/]+')
      return seen.some((path) => new RegExp(`^${pattern}$`).test(path ?? ''))
    }
    // The start leads elsewhere.
    assert.deepEqual(
      routes.filter((route) => !isSeen(route)),
      ['/'],
    )
  })

  for (const [language, texts] of [
    ['en', en],
    ['de', de],
  ] as const) {
    test(`${language}: the language is chosen`, async () => {
      for (const each of [page, ids.own]) {
        if (language === 'de') await speakGerman(each)
        assert.equal(await each.locator('html').getAttribute('lang'), language)
      }
    })

    for (const [index, [name, path]] of Object.entries(pages).entries())
      test(`${language}: ${name}`, async () => {
        await web.follow(path(ids))
        await assertFits(page, `${name}-${language}`)
        const wide = index % 8 < 4 ? [1440] : [320]
        for (const width of looksAtAll ? [1440, 320] : wide)
          await assertClean(page, { looks: schemesFor(language, index), width })
      })

    for (const [index, [name, path]] of Object.entries(entrances).entries()) {
      const looks = schemesFor(language, index)
      if (looks.length > 0)
        test(`${language}: ${name}`, async () => {
          const locale = language === 'en' ? 'en-US' : 'de-DE'
          const context = await web.browser.newContext({ locale, reducedMotion: 'reduce' })
          const visitor = await context.newPage()
          await visitor.goto(web.url + path(ids))
          await visitor.getByRole('heading', { level: 1 }).waitFor()
          if (name === 'sign-in-code') {
            await signIn(visitor, developer.email)
            await visitor.getByLabel(texts.signIn.code.app).waitFor()
          }
          await assertFits(visitor, `${name}-${language}`)
          await assertClean(visitor, { looks, width: 1440 })
          await context.close()
        })
    }

    for (const [index, opening] of openingsIn(texts).entries()) {
      const { path, steps, width = 1440, meanwhile, adds, asks, by } = opening
      const looks = schemesFor(language, index)
      if (looks.length > 0)
        test(`${language}: ${wordsOf(opening)}`, async () => {
          const on = by === 'developer' ? ids.own : page
          await on.setViewportSize({ width, height: 900 })
          const { pathname, search } = new URL(on.url())
          if ((await overlays(on).count()) > 0) await web.open(path(ids), on)
          else if (pathname + search !== path(ids)) await web.follow(path(ids), on)
          for (const step of steps.slice(0, -1)) await take(on, step)
          if (meanwhile) await happens[meanwhile](language)
          for (const step of steps.slice(-1)) await take(on, step, adds)
          await overlays(on).first().waitFor()
          assert.deepEqual(await misfits(on), [])
          // The page beneath has been looked at.
          const within = looksAtAll ? undefined : open
          await assertClean(on, { looks, width, within })
          await picture(on, `dialog-${language}-${index}`)
          if (asks === 'to sign in') await signIn(on, administrator.email)
          if (await on.getByRole('listbox').isVisible()) {
            await on.keyboard.press('Escape')
            await on.getByRole('listbox').waitFor({ state: 'hidden' })
          }
          if (asks !== 'to sign in') await on.keyboard.press('Escape')
          if (asks === 'to close') await answer(on, texts.secret.closeAction, { looks, width })
          await overlays(on).first().waitFor({ state: 'hidden' })
          if (asks === 'to leave the page') {
            await take(on, texts.nav.usage)
            await answer(on, texts.leave.action, { looks, width })
            await on.waitForURL(/usage/)
          }
        })
    }
  }

  test('there are no browser errors', () =>
    assert.deepEqual(
      // What an ended session and a change meanwhile are answered with, which browsers always log.
      web.complaints.filter((text) => !/status of (401|412)/.test(text)),
      [],
    ))

  const overlays = (on: Page) => on.locator(open).filter({ visible: true })

  /** In what is open on top, else on the page. `adds`: to what is open (Opening). */
  async function take(on: Page, step: Step, adds?: string): Promise<void> {
    if (step === '?') return on.keyboard.press(step)
    const top = (await overlays(on).count()) > 0 ? overlays(on).last() : on.locator('body')
    if (typeof step !== 'string')
      return top
        .getByLabel(new RegExp(`^${step[0]}`))
        .first()
        .fill(step[1])
    const named = { name: step, exact: true }
    const target = top
      .getByRole('button', named)
      .or(top.getByRole('menuitem', named))
      .or(top.getByRole('link', named))
      .or(top.getByRole('checkbox', named))
      .first()
    if ((await target.getAttribute('type')) === 'checkbox') return target.check()
    const around = await target.evaluate((element) =>
      element.closest('[role="dialog"], [role="menu"]')?.getAttribute('aria-labelledby'),
    )
    await target.click()
    // What is open makes room for what comes next, once it has faded out or its action is done.
    if (adds !== undefined) await top.getByText(adds).waitFor()
    else if (around) await on.locator(`[aria-labelledby="${around}"]`).waitFor({ state: 'hidden' })
    return undefined
  }

  /** Looks at a question, too. */
  async function answer(on: Page, button: string, view: View): Promise<void> {
    await on.getByRole('button', { name: button, exact: true }).waitFor()
    await assertClean(on, view)
    await take(on, button)
    await overlays(on).first().waitFor({ state: 'hidden' })
  }

  /** On the sign-in page, or in the dialog above a page whose session has ended. */
  async function signIn(on: Page, email: string): Promise<void> {
    await on.locator('[name="email"]').fill(email)
    await on.locator('[name="password"]').fill(administrator.password)
    await on.keyboard.press('Enter')
  }

  const happens = {
    'key changed': (language: Language) =>
      changeElsewhere('PATCH', `/keys/${ids.key}`, { owner: `Ann, ${language}` }),
    'frame changed': (language: Language) =>
      changeElsewhere('PUT', '/frame', { budget: language === 'en' ? '200' : '300' }),
    'session ended': () => web.context.clearCookies(),
  } as const

  async function changeElsewhere(method: string, path: string, data: object): Promise<void> {
    const { version } = await web.ask('GET', path)
    const headers = { origin: web.url, 'if-match': String(version) }
    const answer = await web.context.request.fetch(`${web.url}/admin/api/v1${path}`, {
      ...{ method, data, headers },
    })
    assert.ok(answer.ok(), await answer.text())
  }

  async function assertFits(on: Page, name: string): Promise<void> {
    for (const colorScheme of looksAtAll ? schemes : schemes.slice(0, 1)) {
      await on.emulateMedia({ colorScheme })
      for (const width of [1440, 768, 390, 320]) {
        await on.setViewportSize({ width, height: 900 })
        assert.deepEqual(await misfits(on), [], `${width} pixels`)
        if (width === 390) assert.ok((await heightOf(on)) <= tallest, 'it is above six screens')
        await picture(on, `${name}-${colorScheme}-${width}`)
      }
    }
  }

  async function assertClean(on: Page, { looks, width, within }: View): Promise<void> {
    await on.setViewportSize({ width, height: 900 })
    for (const colorScheme of looks) {
      await on.emulateMedia({ colorScheme })
      await on.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
      // A menu or a list closes with the page: no landmark that somebody would go to.
      const isAbove = await on.locator('[role="menu"], [role="listbox"]').first().isVisible()
      const all = await allFindings(on, within)
      const found = all.filter((each) => !isAbove || !each.startsWith('region: '))
      assert.deepEqual(found, [], `${colorScheme}, ${width} pixels`)
    }
  }
})

function heightOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollHeight')
}

function wordsOf({ steps }: Opening): string {
  return steps.map((step) => (typeof step === 'string' ? step : step[0])).join(', ')
}
