// The list of parts names each package once, with its licence, and is the same for the same contents.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listOfParts, type Product } from './sbom.ts'

const product: Product = {
  version: '1.2.3',
  createdAt: '2026-01-02T03:04:05.000Z',
  node: '26.10.0',
  licenseTexts: [
    '# Licenses\n\n## zod - 4.6.7 (MIT)\n\ntext\n\n## @a/b - 1.0.0 (Apache-2.0)\n',
    '# Licenses\n\n## react - 19.3.1 (MIT)\n\n## zod - 4.6.7 (MIT)\n\n## bare - 1.0.0\n',
  ],
  debianRecords: ['Package: libstdc++6\nVersion: 14.2.0-19\nArchitecture: arm64\n'],
  base: 'trixie',
}

type Parts = {
  readonly serialNumber: string
  readonly components: readonly { readonly purl?: string; readonly name: string }[]
}

test('every package is listed once: Node, those of npm, those of Debian', () => {
  const { components } = listOfParts(product) as Parts
  assert.deepEqual(
    components.map(({ purl }) => purl),
    [
      'pkg:generic/node@26.10.0',
      'pkg:npm/%40a/b@1.0.0',
      'pkg:npm/bare@1.0.0',
      'pkg:npm/react@19.3.1',
      'pkg:npm/zod@4.6.7',
      'pkg:deb/debian/libstdc%2B%2B6@14.2.0-19?arch=arm64&distro=trixie',
    ],
  )
  assert.partialDeepStrictEqual(components[1], { licenses: [{ license: { name: 'Apache-2.0' } }] })
})

test("somebody else's base is one part, by its name", () => {
  const { components } = listOfParts({ ...product, debianRecords: [], base: 'node:26' }) as Parts
  assert.partialDeepStrictEqual(components.at(-1), { type: 'container', name: 'node:26' })
})

test('the same contents have the same list, and others another serial number', () => {
  const [one, same] = [listOfParts(product) as Parts, listOfParts({ ...product }) as Parts]
  const other = listOfParts({ ...product, node: '26.11.0' }) as Parts
  assert.deepEqual(one, same)
  assert.match(
    one.serialNumber,
    /^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
  )
  assert.notEqual(one.serialNumber, other.serialNumber)
})
