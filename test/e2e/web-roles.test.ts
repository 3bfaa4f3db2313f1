// Every role against every page, in a real browser: the built-in roles, and a custom one for each single permission.
// Pages a role may see are offered and open; others are not offered, and their addresses name the missing permission.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { BUILT_IN_ROLES, PERMISSIONS } from '../../src/admin/contract/permissions.ts'
import type { Permission } from '../../src/admin/contract/permissions.ts'
import en from '../../web/src/i18n/en.json' with { type: 'json' }
import { tokenOf } from '../support/browser.ts'
import { openWebDesk } from '../support/web.ts'
import type { WebDesk } from '../support/web.ts'

/** Each page with the permissions it requires. */
const pages: Readonly<Record<string, readonly Permission[]>> = {
  '/settings/api-access': ['configuration:read'],
  '/settings/api-access/new': ['configuration:read', 'configuration:manage'],
  '/settings/api-access/frame': ['configuration:read'],
  '/settings/models': ['configuration:read'],
  '/settings/alerts': ['configuration:read'],
  '/settings/playground': ['configuration:manage'],
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
  let desk: WebDesk
  before(async () => {
    desk = await openWebDesk()
  })
  after(() => desk.close())

  for (const [index, { name, permissions }] of roles.entries())
    test(name, async () => {
      if (!BUILT_IN_ROLES.some((role) => role.name === name))
        await desk.ask('POST', '/roles', { name, permissions })
      const page = await comeAs({ email: `p${index}@example.com`, role: name })
      let goTo = desk.open
      for (const [path, needed] of Object.entries(pages)) {
        const missing = needed.find((permission) => !permissions.includes(permission))
        await goTo(path, page)
        // The page is loaded once per role.
        goTo = desk.follow
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

  /** Invites someone, uses the link, and signs in. */
  async function comeAs({ email, role }: { email: string; role: string }): Promise<Page> {
    const { link } = await desk.ask('POST', '/people', { email, name: 'Somebody', role })
    const context = await desk.browser.newContext({ locale: 'en-US' })
    const response = await context.request.post(`${desk.url}/admin/api/v1/links/use`, {
      headers: { origin: desk.url },
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
