// The list of parts of an image, as CycloneDX: Tollgate, the packages built into it and its web interface, Node, and the
// Debian packages below. From what the build itself recorded, so that it names what is inside, and nothing else.
import { createHash } from 'node:crypto'

export type Product = {
  readonly version: string
  /** When it was committed, in ISO 8601: the same commit has the same list. */
  readonly createdAt: string
  readonly node: string
  /** The texts of LICENSES.md: one for the gateway, one for its web interface. */
  readonly licenseTexts: readonly string[]
  /** The records of Debian's packages, as dpkg keeps them; empty if the base is somebody else's. */
  readonly debianRecords: readonly string[]
  readonly base: string
}

type Component = {
  readonly type: 'library' | 'application' | 'container'
  readonly name: string
  readonly version?: string
  readonly purl?: string
  readonly licenses?: readonly { readonly license: { readonly name: string } }[]
}

export function listOfParts(product: Product): object {
  const { version, createdAt, node, licenseTexts, debianRecords, base } = product
  const parts = [
    { type: 'application', name: 'node', version: node, purl: `pkg:generic/node@${node}` } as const,
    ...distinct(licenseTexts.flatMap(npmPackages)),
    ...(debianRecords.length === 0
      ? [{ type: 'container', name: base } as const]
      : debianRecords.map((record) => debianPackage(record, base))),
  ]
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: createdAt,
      component: {
        type: 'application',
        'bom-ref': 'tollgate',
        name: 'tollgate',
        version,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components: parts.map((part) => ({ ...part, 'bom-ref': part.purl ?? part.name })),
  }
  return { ...document, serialNumber: `urn:uuid:${uuidOf(JSON.stringify(document))}` }
}

/** Each package has a heading: `## name - 1.2.3 (MIT)`. */
function npmPackages(text: string): readonly Component[] {
  const headings = text.matchAll(/^## (?<name>\S+) - (?<version>\S+)(?: \((?<license>.+)\))?$/gm)
  return [...headings].map(({ groups = {} }) => {
    const { name = '', version = '', license } = groups
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
    const part = { type: 'library', name, version, purl } as const
    return license === undefined ? part : { ...part, licenses: [{ license: { name: license } }] }
  })
}

function debianPackage(record: string, suite: string): Component {
  const field = (name: string): string =>
    new RegExp(`^${name}: (.*)$`, 'm').exec(record)?.[1] ?? 'unknown'
  const [name, version] = [field('Package'), field('Version')]
  const where = `arch=${field('Architecture')}&distro=${suite}`
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?${where}`
  return { type: 'library', name, version, purl }
}

function distinct(parts: readonly Component[]): readonly Component[] {
  const byPurl = new Map(parts.map((part) => [part.purl ?? part.name, part]))
  return [...byPurl].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, part]) => part)
}

/** Made from the contents (RFC 9562, version 8): random bits would give every build another digest. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`]
  return [...parts, `${variant}${hex.slice(18, 20)}`, hex.slice(20, 32)].join('-')
}
