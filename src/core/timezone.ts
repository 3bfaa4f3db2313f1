// Which texts name a time zone: budgets follow it, so configuration, command line and screens must agree.

/** An IANA name such as Europe/Berlin. Offsets such as +02:00 do not count: they ignore summer time. */
export function isTimezone(name: string): boolean {
  return timezoneOf(name) !== undefined
}

/** The same name as the time zone database spells it, so that `europe/berlin` and `Europe/Berlin` are one. */
export function timezoneOf(name: string): string | undefined {
  if (!/^[A-Z]/i.test(name)) return undefined
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    // An alias resolves to another name, often an older one: people who wrote Asia/Kolkata want to read that.
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name
  } catch {
    return undefined
  }
}
