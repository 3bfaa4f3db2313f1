// Pages while the gateway, or a proxy in front of it, answers with nothing useful: each says so, and works once it can.
import { after, before, describe, test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { openWebDesk } from '../support/web.ts'
import type { WebDesk } from '../support/web.ts'

/** What a proxy answers on its own. */
const proxyPage = (route: Route) =>
  route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' })

describe('pages while the gateway fails', () => {
  let desk: WebDesk
  let page: Page
  let key: string

  before(async () => {
    desk = await openWebDesk()
    ;({ page } = desk)
    const named = { name: 'night job', models: ['sandbox-chat'], budget: '1' }
    key = String((await desk.ask('POST', '/keys', named))['id'])
  })
  after(() => desk.close())

  test('a page that failed before it knew who is signed in loads on the next try', async () => {
    await page.route('**/session', proxyPage)
    await page.goto(`${desk.url}/settings/models`)
    const again = page.getByRole('button', { name: 'Try again' })
    await again.waitFor()
    await page.unroute('**/session')
    await again.click()
    await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor()
  })

  test('an answer that is not the gateway’s is explained', async () => {
    await page.route('**/v1/models', proxyPage)
    await page.goto(`${desk.url}/settings/models`)
    await page
      .getByRole('alert')
      .getByText(/not the gateway’s own \(HTTP 502\)/)
      .waitFor()
    await page.unroute('**/v1/models')
  })

  test('a list of keys that cannot be loaded does not look empty', async () => {
    await page.route('**/keys?*', proxyPage)
    await page.goto(`${desk.url}/settings/playground`)
    await page.getByText('The keys could not be loaded.').waitFor()
    await page.unroute('**/keys?*')
    await page.getByRole('combobox', { name: 'Key' }).click()
    await page.getByRole('option', { name: 'night job' }).click()
    await page.getByText('The keys could not be loaded.').waitFor({ state: 'hidden' })
  })

  test('the playground says that the models could not be loaded, and retries', async () => {
    await page.route('**/v1/models', proxyPage)
    await page.goto(`${desk.url}/settings/playground?key=${key}`)
    const failed = page.getByRole('alert').getByText('The models could not be loaded.')
    await failed.waitFor()
    await page.unroute('**/v1/models')
    await page.getByRole('button', { name: 'Try again' }).click()
    await failed.waitFor({ state: 'hidden' })
    await page.getByLabel('Model', { exact: true }).locator('option').waitFor({ state: 'attached' })
  })
})
