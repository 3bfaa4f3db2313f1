// Pages while the gateway, or a proxy in front of it, answers with nothing useful: each says so, and works once it can.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { until } from '../../support/until.ts'
import type { Page, Route } from 'playwright-core'
import { choose, newKey, openSignedInWeb } from '../../support/web/web.ts'
import type { SignedInWeb } from '../../support/web/web.ts'

/** What a proxy answers on its own. */
const proxyPage = (route: Route) =>
  route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' })

describe('pages while the gateway fails', () => {
  let web: SignedInWeb
  let page: Page
  let key: string

  before(async () => {
    web = await openSignedInWeb()
    ;({ page } = web)
    key = (await newKey(web, 'night job')).id
  })
  after(() => web.close())

  test('a page that failed before it knew who is signed in loads on the next try', async () => {
    await page.route('**/session', proxyPage)
    await page.goto(`${web.url}/settings/models`)
    const again = page.getByRole('button', { name: 'Try again' })
    await again.waitFor()
    await page.unroute('**/session')
    await again.click()
    await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor()
  })

  test('an answer that is not the gateway’s is explained', async () => {
    await page.route('**/v1/models', proxyPage)
    await page.goto(`${web.url}/settings/models`)
    await page
      .getByRole('alert')
      .getByText(/not the gateway’s own \(HTTP 502\)/)
      .waitFor()
    await page.unroute('**/v1/models')
  })

  test('a list of keys that cannot be loaded does not look empty', async () => {
    await page.route('**/keys?*', proxyPage)
    await page.goto(`${web.url}/settings/playground`)
    await page.getByText('The keys could not be loaded.').waitFor()
    await page.unroute('**/keys?*')
    await page.getByRole('combobox', { name: 'Key' }).click()
    await page.getByRole('option', { name: 'night job' }).click()
    await page.getByText('The keys could not be loaded.').waitFor({ state: 'hidden' })
  })

  test('the playground says that the models could not be loaded, and retries', async () => {
    await page.route('**/v1/models', proxyPage)
    await page.goto(`${web.url}/settings/playground?key=${key}`)
    const failed = page.getByRole('alert').getByText('The models could not be loaded.')
    await failed.waitFor()
    await page.unroute('**/v1/models')
    await page.getByRole('button', { name: 'Try again' }).click()
    await failed.waitFor({ state: 'hidden' })
    await page.getByLabel('Model', { exact: true }).locator('option').waitFor({ state: 'attached' })
  })

  test('a role cannot be chosen when the roles could not be loaded', async () => {
    await page.route('**/v1/roles', proxyPage)
    await page.goto(`${web.url}/settings/people`)
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('dialog').getByText('The roles could not be loaded.').waitFor()
    await page.unroute('**/v1/roles')
  })

  test('the models of a key have no prices when the models could not be loaded', async () => {
    await page.route('**/v1/models', proxyPage)
    await page.goto(`${web.url}/settings/api-access/${key}?tab=models`)
    await page.getByRole('alert').getByText('The models could not be loaded.').waitFor()
  })

  test('models cannot be chosen when they could not be loaded', async () => {
    await page.goto(`${web.url}/settings/api-access`)
    await page.getByRole('checkbox', { name: 'Select key night job' }).check()
    await page.getByRole('button', { name: 'Add models' }).click()
    await page.getByRole('dialog').getByText('The models could not be loaded.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    await page.getByRole('dialog').getByText('The models could not be loaded.').waitFor()
    await page.unroute('**/v1/models')
  })

  test('the models of another key cannot be copied when it could not be loaded', async () => {
    await web.open('/settings/api-access/new')
    await page.getByText('Copy from a key…').click()
    await page.getByRole('combobox', { name: 'Key whose models are added' }).click()
    await page.route(`**/keys/${key}`, proxyPage)
    await page.getByRole('option', { name: 'night job' }).click()
    await page.getByText('This key could not be loaded.').waitFor()
    await page.unroute(`**/keys/${key}`)
    await page.route('**/keys?*', proxyPage)
    await web.open('/settings/api-access/new')
    await page.getByText('Copy from a key…').click()
    await page.getByText('The keys could not be loaded.').waitFor()
    await page.unroute('**/keys?*')
  })

  test('a sign-out that failed is not taken for one', async () => {
    await web.open('/settings/models')
    await page.route('**/session', proxyPage)
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    const dialog = page.getByRole('dialog', { name: 'You are still signed in' })
    await dialog.getByText(/not the gateway’s own/).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.unroute('**/session')
  })

  test('an answer that is cut off is no answer', async (t) => {
    const cutter = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 })
      response.write('{"models":[', () => response.destroy())
    })
    t.after(() => cutter.close())
    cutter.listen(0, '127.0.0.1')
    await once(cutter, 'listening')
    const { port } = cutter.address() as AddressInfo
    await page.route('**/v1/models', (route) =>
      route.continue({ url: `http://127.0.0.1:${port}/` }),
    )
    await page.goto(`${web.url}/settings/models`)
    await page.getByRole('alert').getByText('The gateway does not answer.').waitFor()
    await page.unroute('**/v1/models')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('rowheader', { name: 'sandbox-chat', exact: true }).waitFor()
  })

  describe('while the gateway is away', () => {
    const away = 'The gateway does not answer. Nothing was lost'
    after(() => web.context.setOffline(false))

    test('a page that was not loaded yet says so, beside the menu, and loads when it is back', async () => {
      await web.open('/settings/people')
      await web.context.setOffline(true)
      await page.getByRole('link', { name: 'Usage' }).click()
      const alert = page.getByRole('alert')
      await alert.getByText('This page could not be loaded.').waitFor()
      await alert.getByText(away).waitFor()
      await alert.getByRole('button', { name: 'Try again' }).click()
      await alert.getByText(away).waitFor()
      await page.getByRole('link', { name: 'People' }).waitFor()
      await web.context.setOffline(false)
      await alert.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
    })

    test('a dialog that was not loaded yet says so, above the page, and opens when it is back', async () => {
      await web.open('/settings/api-access')
      await web.context.setOffline(true)
      await choose(page, 'night job', 'Top up')
      const dialog = page.getByRole('dialog', { name: 'This could not be loaded.' })
      await dialog.getByText(away).waitFor()
      await dialog.getByRole('button', { name: 'Close' }).click()
      await dialog.waitFor({ state: 'hidden' })
      await page.getByRole('rowheader', { name: 'night job' }).waitFor()
      await web.context.setOffline(false)
      await choose(page, 'night job', 'Top up')
      await page.getByRole('dialog').getByLabel('Add, in USD').waitFor()
      await page.keyboard.press('Escape')
    })

    test('a page whose script cannot be fetched is reloaded only when that can be', async () => {
      await web.open('/settings/people')
      await page.route('**/assets/usage-*.js', (route) => route.abort())
      await page.getByRole('link', { name: 'Usage' }).click()
      const reload = page.getByRole('alert').getByRole('button', { name: 'Reload' })
      await reload.waitFor()
      await page.route('**/settings/usage', (route) => route.abort())
      await reload.click()
      await page.getByRole('alert').getByText(away).waitFor()
      await page.getByRole('link', { name: 'People' }).waitFor()
      await page.unrouteAll()
      await page.getByRole('alert').getByRole('button').click()
      await reload.click()
      await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
    })

    test('a tab that was not loaded yet leaves the rest of its page', async () => {
      await web.open(`/settings/api-access/${key}?tab=models`)
      await web.context.setOffline(true)
      await page.getByRole('tab', { name: 'Usage' }).click()
      await page.getByRole('alert').getByText(away).waitFor()
      await page.getByRole('heading', { name: 'night job', level: 1 }).waitFor()
      await web.context.setOffline(false)
    })
  })

  describe('while nothing answers', () => {
    before(() => page.clock.install())

    for (const [what, path] of [
      ['the session', '**/session'],
      ['the data', '**/v1/models'],
    ] as const)
      test(`a page that waits for ${what} offers another try`, async () => {
        const { asked, release } = await hang(path)
        await page.goto(`${web.url}/settings/models`)
        await asked
        await page.clock.runFor(2_000)
        await page.locator('[aria-busy="true"]').first().waitFor()
        await page.clock.runFor(30_000)
        await page.getByText('The gateway did not answer within 30 seconds.').waitFor()
        await release()
        await page.getByRole('button', { name: 'Try again' }).click()
        await page.getByRole('rowheader', { name: 'sandbox-chat', exact: true }).waitFor()
      })

    test('a change can be sent again', async () => {
      await page.goto(`${web.url}/settings/api-access`)
      await choose(page, 'night job', 'Top up')
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Add, in USD').fill('2')
      await dialog.getByLabel('Reason').fill('a busy week')
      const { asked, release } = await hang('**/top-up')
      await dialog.getByRole('button', { name: 'Top up' }).click()
      await asked
      await page.clock.runFor(30_000)
      await dialog.getByText('a change may still take effect').waitFor()
      assert.ok(await dialog.getByRole('button', { name: 'Cancel' }).isEnabled())
      await release()
      await dialog.getByRole('button', { name: 'Top up' }).click()
      await dialog.waitFor({ state: 'hidden' })
    })

    test('an answer of a model may take longer, as long as something of it is heard', async () => {
      await page.goto(`${web.url}/settings/playground?key=${key}`)
      const message = page.getByRole('textbox', { name: 'Message', exact: true })
      await message.fill('[[sandbox tokens=60 gap=100ms]]')
      await page.getByRole('button', { name: 'Send' }).click()
      const progress = page.getByText(/tokens so far/)
      for (const _ of [1, 2, 3]) {
        const heard = await progress.innerText()
        await until(async () => (await progress.innerText()) !== heard)
        await page.clock.runFor(20_000)
      }
      await page.getByText(/tokens in/).waitFor()
    })
  })

  /** Requests to this path arrive and are never answered, until the path is released. */
  async function hang(path: string) {
    await page.route(path, () => {})
    return { asked: page.waitForRequest(path), release: () => page.unroute(path) }
  }
})
