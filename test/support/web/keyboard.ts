// A page by keyboard alone: what has the focus, where Tab leads, and what a menu offers.
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

export type Keyboard = {
  /** The name of the focused element, roughly as assistive technology would say it; empty where nothing has the focus. */
  focused(): Promise<string>
  /** Presses Tab until something of this name has the focus. */
  tabTo(name: RegExp): Promise<void>
  /** The same, then presses Enter. */
  enter(name: RegExp): Promise<void>
  /** The same, then types in place of what is there. */
  type(name: RegExp, text: string): Promise<void>
  /** Goes to a field of that name, and presses Arrow Down from its first option on until that one is chosen. */
  select(name: RegExp, option: RegExp): Promise<void>
  /** Opens the menu of that button, takes one of its items, and closes it where it stays open for another. */
  choose(button: RegExp, item: RegExp): Promise<void>
}

export function keyboardOf(page: Page): Keyboard {
  const focused = (): Promise<string> =>
    page.evaluate(`(() => {
      const element = document.activeElement
      if (element === document.body) return ''
      const label = element.labels?.[0]?.textContent
      return (element.getAttribute('aria-label') ?? label ?? element.textContent).trim()
    })()`)
  const chosen = (): Promise<string> =>
    page.evaluate('document.activeElement.selectedOptions[0].textContent')
  const pressTo = async (key: string, name: RegExp, read = focused): Promise<void> => {
    const seen = new Set<string>()
    for (let presses = 0; presses < 120; presses += 1) {
      await page.keyboard.press(key)
      const found = await read()
      if (name.test(found)) return
      seen.add(found)
    }
    assert.fail(`nothing named ${name} is reached by ${key}, only: ${[...seen].join(' | ')}`)
  }
  const tabTo = (name: RegExp): Promise<void> => pressTo('Tab', name)
  const enter = async (name: RegExp): Promise<void> => {
    await tabTo(name)
    await page.keyboard.press('Enter')
  }
  return {
    focused,
    tabTo,
    enter,
    type: async (name, text) => {
      await tabTo(name)
      await page.keyboard.press('Control+A')
      await page.keyboard.type(text)
    },
    select: async (name, option) => {
      await tabTo(name)
      // What may be chosen is asked of the gateway, and may come later than the field.
      await page.locator('select:focus option').first().waitFor({ state: 'attached' })
      await page.keyboard.press('Home')
      if (!option.test(await chosen())) await pressTo('ArrowDown', option, chosen)
    },
    choose: async (button, item) => {
      await enter(button)
      await page.locator('[role="menu"]:focus-within').waitFor()
      await pressTo('ArrowDown', item)
      await page.keyboard.press('Enter')
      if (await page.locator('[role="menuitemradio"]:focus').isVisible())
        await page.keyboard.press('Escape')
      await page.getByRole('menu').waitFor({ state: 'hidden' })
    },
  }
}
