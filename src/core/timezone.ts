// Which texts name a time zone: budgets follow it, so configuration, command line and screens must agree.

/** An IANA name such as Europe/Berlin. Offsets such as +02:00 are none: they know nothing of summer time. */
export function isTimezone(name: string): boolean {
  if (!/^[A-Z]/i.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
