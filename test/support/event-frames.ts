// Writes the frames of AWS event streams, which the Bedrock adapter reads.
import { crc32 } from 'node:zlib'

export function writeFrame(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const head = Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(Buffer.byteLength(value))
      return [
        Buffer.from([Buffer.byteLength(name)]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ]
    }),
  )
  const body = Buffer.from(payload)
  const lengths = Buffer.alloc(8)
  lengths.writeUInt32BE(16 + head.length + body.length, 0)
  lengths.writeUInt32BE(head.length, 4)
  const message = Buffer.concat([lengths, checksum(lengths), head, body])
  return Buffer.concat([message, checksum(message)])
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(bytes))
  return sum
}
