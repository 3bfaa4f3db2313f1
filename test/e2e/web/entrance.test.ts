// Every way in, by keyboard alone: the link of the first start, a password, a code of the app or a recovery code, single
// sign-on, and a new password after the old one was lost. What only a gateway shows that nobody has an account on is
// looked at by axe here, in both languages and colour schemes.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { appCode, tokenOf } from '../../support/browser.ts'
import { signOnConfig, startOidcProvider, type OidcProvider } from '../../support/oidc.ts'
import { run } from '../../support/process.ts'
import { keyboardOf, type Keyboard } from '../../support/web/keyboard.ts'
import {
  administrator,
  allFindings,
  misfits,
  newVisitor,
  openWebStage,
  picture,
  send,
  speakGerman,
  watchComplaints,
  type WebStage,
} from '../../support/web/web.ts'

const developer = { email: 'dev@example.com', name: 'Dev' }

describe('every way in by keyboard alone', () => {
  let provider: OidcProvider
  let web: WebStage
  let page: Page
  let keyboard: Keyboard
  let complaints: readonly string[]
  let recoveryCode = ''
  let appUri = ''

  before(async () => {
    provider = await startOidcProvider()
    web = await openWebStage(undefined, signOnConfig(provider, ', role: Viewer'))
    page = await newVisitor(web)
    complaints = watchComplaints(page)
    keyboard = keyboardOf(page)
  })
  after(async () => {
    await provider[Symbol.asyncDispose]()
    await web.close()
  })

  const heading = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor()
  /** A form puts the focus into its first field, a moment after it is drawn; what is typed before that is lost. */
  const focusIn = (name: string) =>
    page.getByRole('textbox', { name }).and(page.locator(':focus')).waitFor()
  const signOut = async () => {
    await keyboard.choose(/^Your account$/, /^Sign out$/)
    await heading('Sign in')
  }
  const enterPassword = async () => {
    await heading('Sign in')
    await focusIn('E-mail address')
    await page.keyboard.type(administrator.email)
    await keyboard.type(/^Password/, administrator.password)
    await page.keyboard.press('Enter')
  }
  const post = (path: string, data: object) =>
    send(page.context(), web.url, { method: 'POST', path, data })

  test('a gateway without people fits and is clean, in both languages and schemes', async () => {
    for (const language of ['en', 'de']) {
      for (const [name, path] of [
        ['nobody-yet', web.url],
        ['first-administrator', web.setupLink],
      ] as const) {
        const visitor = await newVisitor(web)
        await visitor.goto(path)
        await visitor.getByText(/Nobody has an account yet\.|E-mail address/).waitFor()
        if (language === 'de') await speakGerman(visitor)
        for (const colorScheme of ['light', 'dark'] as const) {
          await visitor.emulateMedia({ colorScheme })
          await visitor.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
          assert.deepEqual(await allFindings(visitor), [], `${name}, ${language}, ${colorScheme}`)
          for (const width of [1440, 390]) {
            await visitor.setViewportSize({ width, height: 900 })
            assert.deepEqual(await misfits(visitor), [], `${name}, ${language}, ${width} pixels`)
            await picture(visitor, `${name}-${language}-${colorScheme}-${width}`)
          }
        }
        await visitor.context().close()
      }
    }
  })

  test('the first administrator comes by the printed link', async () => {
    await page.goto(web.setupLink)
    await heading('Set up Tollgate')
    await focusIn('E-mail address')
    await page.keyboard.type(administrator.email)
    await keyboard.type(/^Your name/, administrator.name)
    await keyboard.type(/^New password/, administrator.password)
    await keyboard.enter(/^Create administrator$/)
    await heading('API access')
  })

  test('a password', async () => {
    await signOut()
    await enterPassword()
    await heading('API access')
  })

  test('a code of the app, after a wrong one', async () => {
    const { password } = administrator
    const begun = await post('/profile/two-factor', { password })
    appUri = String(begun['uri'])
    recoveryCode = String(Object(begun['recovery_codes'])[0])
    // The code that confirms is used up; the one of the next half minute is accepted too.
    await post('/profile/two-factor/confirm', { code: appCode(appUri) })
    await signOut()
    await enterPassword()
    await focusIn('Code from your app')
    await page.keyboard.type('000000')
    await page.keyboard.press('Enter')
    await page.getByText('You are not signed in.').waitFor()
    assert.equal(await keyboard.focused(), 'Code from your app *')
    await page.keyboard.press('Control+A')
    await page.keyboard.type(appCode(appUri, Date.now() + 30_000))
    await page.keyboard.press('Enter')
    await heading('API access')
  })

  test('a recovery code instead', async () => {
    await signOut()
    await enterPassword()
    await focusIn('Code from your app')
    await keyboard.enter(/^Lost the app\? Use a recovery code$/)
    await focusIn('Recovery code')
    await page.keyboard.type(recoveryCode)
    await page.keyboard.press('Enter')
    await heading('API access')
  })

  test('back from the code to the password', async () => {
    await signOut()
    await enterPassword()
    await focusIn('Code from your app')
    await keyboard.enter(/^Back$/)
    await focusIn('E-mail address')
  })

  test('single sign-on', async () => {
    provider.person = { sub: 'd1', ...developer, email_verified: true }
    await keyboard.enter(/^Sign in with Acme$/)
    await heading('API access')
    await page.getByRole('button', { name: 'Your account' }).waitFor()
    await keyboard.enter(/^Your account$/)
    await page.getByText(developer.email).waitFor()
    await page.keyboard.press('Escape')
    await signOut()
  })

  test('single sign-on that is refused says why, and a password still works', async () => {
    provider.person = { sub: 'd2', ...developer, email_verified: true }
    await keyboard.enter(/^Sign in with Acme$/)
    await page.getByText('is linked to another identity at the provider').waitFor()
    await enterPassword()
    await focusIn('Code from your app')
  })

  test('a new password after the old one was lost', async () => {
    const words = ['bin/tollgate.mjs', 'users', 'reset-password', developer.email]
    const { stdout } = await run('node', words, { env: web.env })
    // The command cannot know at which port the gateway listens.
    await page.goto(`${web.url}/reset-password#${tokenOf(/http\S+/.exec(stdout)?.[0])}`)
    await heading('Set a new password')
    await keyboard.type(/^New password/, administrator.password)
    await page.keyboard.press('Enter')
    await heading('API access')
  })

  test('there are no browser errors', () =>
    assert.deepEqual(
      // Refused codes and passwords are answered with 401, which browsers always log.
      complaints.filter((text) => !text.includes('status of 401')),
      [],
    ))
})
