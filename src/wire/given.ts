// Objects without the members that were never given: an absent member and an undefined one are not the same to a type
// with optional members, nor on the wire.

export function onlyGiven<Members extends object>(members: Members): Given<Members> {
  const given = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as Given<Members>
}

type Given<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> }
