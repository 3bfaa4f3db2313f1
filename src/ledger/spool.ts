// Settlements that the database would not take in time, on this node's own disk: written, synced, then acknowledged.
// Replaying one twice does no harm, because a hold is settled once. Knows nothing of the books.
import { readdirSync, readFileSync, renameSync, unlinkSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

import { makeFolder } from '../store/make-folder.ts'
import type { Charge, PriceRow } from './books.ts'

export type Spooled = { readonly charge: Charge; readonly price: PriceRow | undefined }

type Line = {
  readonly text: string
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

const NAME = /^settlements-(\d+)-\w+\.jsonl$/

/** Files that a ledger of this process writes, so that they are nobody's leftovers. */
const inUse = new Set<string>()

export class Spool {
  readonly #folder: string
  readonly #path: string
  #file: FileHandle | undefined
  #lines: Line[] = []
  /** On the disk and not yet in the database. */
  #waiting = 0
  /** The file may have something in it. */
  #isUsed = false
  #isWorking = false
  #work: Promise<void> = Promise.resolve()

  /** `suffix` tells apart what several ledgers of one process write, and processes that share a number in turn. */
  constructor(folder: string, suffix: string) {
    this.#folder = folder
    this.#path = join(folder, `settlements-${process.pid}-${suffix}.jsonl`)
    inUse.add(this.#path)
  }

  /** Resolves when it is on the disk. What comes while the disk is busy shares the next sync. */
  append(spooled: Spooled): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#lines.push({ text: toLine(spooled), resolve, reject })
      this.#wake()
    })
  }

  /** One of ours has reached the database; when the last one has, the file is emptied. */
  done(): void {
    this.#waiting -= 1
    this.#wake()
  }

  async close(): Promise<void> {
    await this.#work
    await this.#file?.close()
    if (this.#file !== undefined && this.#waiting === 0) unlinkSync(this.#path)
    this.#file = undefined
    inUse.delete(this.#path)
  }

  #wake(): void {
    if (!this.#isWorking) this.#work = this.#write()
  }

  /** One thing at a time: emptying the file beside an append could take with it what was just acknowledged. */
  async #write(): Promise<void> {
    this.#isWorking = true
    for (;;) {
      if (this.#waiting === 0 && this.#isUsed) await this.#empty()
      else if (this.#lines.length > 0) await this.#writeLines(this.#lines.splice(0))
      else break
    }
    this.#isWorking = false
  }

  async #writeLines(lines: readonly Line[]): Promise<void> {
    try {
      await this.#sync(lines.map((line) => line.text).join(''))
      this.#waiting += lines.length
      for (const line of lines) line.resolve()
    } catch (error) {
      for (const line of lines) line.reject(error)
    }
  }

  async #sync(text: string): Promise<void> {
    if (this.#file === undefined) {
      makeFolder(this.#folder, 0o700)
      this.#file = await open(this.#path, 'a', 0o600)
      await syncFolder(this.#folder)
    }
    this.#isUsed = true
    await this.#file.appendFile(text)
    await this.#file.datasync()
  }

  /** What stays behind if this fails is replayed by the next process, which does no harm. */
  async #empty(): Promise<void> {
    this.#isUsed = false
    await this.#file?.truncate(0).catch(() => {})
  }
}

export type Leftover = {
  readonly settlements: readonly Spooled[]
  remove(): void
  /** Keeps it out of the way, for a person to look at; returns where. */
  setAside(): string
}

/** What processes that are gone could not bring into the database. */
export function leftovers(folder: string, isRunning: (pid: number) => boolean): Leftover[] {
  return namesIn(folder)
    .map((name) => ({ path: join(folder, name), pid: Number(NAME.exec(name)?.[1]) }))
    .filter(({ path, pid }) => !inUse.has(path) && (pid === process.pid || !isRunning(pid)))
    .map(({ path }) => ({
      settlements: readFileSync(path, 'utf8').split('\n').flatMap(fromLine),
      remove: () => unlinkSync(path),
      setAside: () => {
        renameSync(path, `${path}.set-aside`)
        return `${path}.set-aside`
      },
    }))
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => NAME.test(name))
  } catch {
    // Nothing was ever spooled here.
    return []
  }
}

/** A line break on both sides: whatever a failed write left in between stays a line of its own. */
function toLine({ charge, price }: Spooled): string {
  const cost = charge.costNanodollars.toString()
  return `\n${JSON.stringify({ charge: { ...charge, costNanodollars: cost }, price })}\n`
}

/** A line that was cut off was never acknowledged to anybody. */
function fromLine(line: string): Spooled[] {
  try {
    const { charge, price } = JSON.parse(line) as { charge: Charge; price?: PriceRow }
    return [{ charge: { ...charge, costNanodollars: BigInt(charge.costNanodollars) }, price }]
  } catch {
    return []
  }
}

/** A file is only there after a crash once its folder is synced too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
