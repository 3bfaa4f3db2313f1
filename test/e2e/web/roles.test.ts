// Every role against every page, in a real browser: the built-in roles, and a custom one for each single permission.
// Pages a role may see are offered and open; others are not offered, and their addresses name the missing permission.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { BUILT_IN_ROLES, PERMISSIONS } from '../../../src/admin/contract/permissions.ts'
import type { Permission } from '../../../src/admin/contract/permissions.ts'
import en from '../../../web/src/i18n/en.json' with { type: 'json' }
import { tokenOf } from '../../support/browser.ts'
import { openSignedInWeb } from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

/** Each page with the permissions it requires. */
const pages: Readonly<Record<string, readonly Permission[]>> = {
  '/settings/api-access': ['configuration:read'],
  '/settings/api-access/new': ['configuration:read', 'configuration:manage'],
  '/settings/api-access/frame': ['configuration:read'],
  '/settings/my-keys': [],
  '/settings/wishes': ['configuration:read'],
  '/settings/models': ['configuration:read'],
  '/settings/alerts': ['configuration:read'],
  '/settings/playground': ['configuration:read', 'configuration:manage'],
  '/settings/usage': ['usage:read'],
  '/settings/requests': ['requests:read'],
  '/settings/audit': ['audit:read'],
  '/settings/people': ['people:manage'],
  '/settings/roles': [],
  '/settings/profile': [],
  '/settings/admin-api': [],
}

const roles: readonly { readonly name: string; readonly permissions: readonly Permission[] }[] = [
  ...BUILT_IN_ROLES,
  ...PERMISSIONS.map((permission) => ({ name: `only ${permission}`, permissions: [permission] })),
]

describe('every role against every page', () => {
  let web: SignedInWeb
  before(async () => {
    web = await openSignedInWeb()
  })
  after(() => web.close())

  for (const [index, { name, permissions }] of roles.entries())
    test(name, async () => {
      if (!BUILT_IN_ROLES.some((role) => role.name === name))
        await web.ask('POST', '/roles', { name, permissions })
      const page = await comeAs({ email: `p${index}@example.com`, role: name })
      let goTo = web.open
      for (const [path, needed] of Object.entries(pages)) {
        const missing = needed.find((permission) => !permissions.includes(permission))
        await goTo(path, page)
        // The page is loaded once per role.
        goTo = web.follow
        const heading = await page.locator('h1').innerText()
        assert.equal(heading === en.forbidden.title, missing !== undefined, `${path}: ${heading}`)
        if (missing !== undefined)
          await page.getByText(`You need the permission “${en.permission[missing]}”.`).waitFor()
      }
      const offered = await page
        .getByRole('navigation')
        .getByRole('link')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''))
      for (const path of offered.filter((each) => each in pages))
        assert.ok(
          pages[path]?.every((permission) => permissions.includes(permission)),
          path,
        )
      await page.context().close()
    })

  test('a page that is not permitted names custom roles too, and its breadcrumb asks for nothing', async () => {
    const key = { name: 'secret name', models: ['sandbox-chat'], budget: '1' }
    const { id } = await web.ask('POST', '/keys', key)
    for (const [name, permission] of [
      ['counting', 'usage:read'],
      ['reading', 'configuration:read'],
    ] as const)
      await web.ask('POST', '/roles', { name, permissions: [permission] })
    const page = await comeAs({ email: 'counting@example.com', role: 'counting' })
    await web.open(`/settings/api-access/${String(id)}`, page)
    await page.getByText(/^These roles have it: .*\breading\b/).waitFor()
    const refused = await web.ask('GET', `/audit?outcome=refused&subject_id=${String(id)}`)
    assert.deepEqual(refused['entries'], [])
    await page.context().close()
  })

  test('a permission that is lost leaves the menu with the next answer, one that is won joins it', async () => {
    const some: readonly Permission[] = ['configuration:read', 'audit:read']
    const { id } = await web.ask('POST', '/roles', { name: 'changing', permissions: some })
    const page = await comeAs({ email: 'changing@example.com', role: 'changing' })
    await web.open('/settings/models', page)
    const entry = (name: string) => page.getByRole('navigation').getByRole('link', { name })
    await entry('Audit log').waitFor()
    const now: readonly Permission[] = ['configuration:read', 'usage:read']
    await web.ask('PATCH', `/roles/${String(id)}`, { permissions: now })
    await web.follow('/settings/alerts', page)
    await entry('Audit log').waitFor({ state: 'detached' })
    await entry('Usage').waitFor()
    await page.context().close()
  })

  test('a page whose permission is lost says so with the next answer', async () => {
    const one: readonly Permission[] = ['audit:read', 'configuration:read']
    const { id } = await web.ask('POST', '/roles', { name: 'leaving', permissions: one })
    const page = await comeAs({ email: 'leaving@example.com', role: 'leaving' })
    await web.open('/settings/models', page)
    await web.ask('PATCH', `/roles/${String(id)}`, { permissions: ['configuration:read'] })
    await page.getByRole('navigation').getByRole('link', { name: 'Audit log' }).click()
    await page.getByText(`You need the permission “${en.permission['audit:read']}”.`).waitFor()
    await page.context().close()
  })

  /** Invites someone, uses the link, and signs in. */
  async function comeAs({ email, role }: { email: string; role: string }): Promise<Page> {
    const { link } = await web.ask('POST', '/people', { email, name: 'Somebody', role })
    const context = await web.browser.newContext({ locale: 'en-US' })
    const response = await context.request.post(`${web.url}/admin/api/v1/links/use`, {
      headers: { origin: web.url },
      data: {
        token: tokenOf(Object(link).url),
        name: 'Somebody',
        password: 'a sentence that is long enough',
      },
    })
    assert.ok(response.ok(), await response.text())
    return context.newPage()
  }
})
