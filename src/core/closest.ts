// What somebody may have meant who mistyped a name. Takes the product of both lengths in time: a stranger's text is cut
// by the caller first.

/** The name with the fewest letters changed; none when even that is another word. */
export function closest(asked: string, names: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Math.max(1, Math.floor(asked.length / 2)) + 1
  for (const name of names) {
    const distance = editDistance(asked.toLowerCase(), name.toLowerCase())
    if (distance < least) {
      best = name
      least = distance
    }
  }
  return best
}

function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}
