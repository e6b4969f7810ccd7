/** Small tar archives for tests, also such as no honest program writes. */
import { gzipSync } from 'node:zlib'

/** One entry; a plain file unless a type is given. */
export interface TarFile {
  readonly name: string
  readonly content?: string | Uint8Array
  readonly type?: string
  readonly link?: string
}

/** A gzipped archive. */
export function tarGz(files: readonly TarFile[]): Uint8Array {
  const blocks = files.flatMap(({ name, content = '', type = '0', link = '' }) => {
    const data = Buffer.from(content)
    const header = Buffer.alloc(512)
    header.write(name, 0, 100)
    header.write('0000644\0', 100)
    header.write('0000000\0', 108)
    header.write('0000000\0', 116)
    header.write(`${data.length.toString(8).padStart(11, '0')}\0`, 124)
    header.write('00000000000\0', 136)
    header.write('        ', 148)
    header.write(type, 156)
    header.write(link, 157, 100)
    header.write('ustar\x0000', 257)
    const sum = header.reduce((total, byte) => total + byte, 0)
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    return [header, data, Buffer.alloc((512 - (data.length % 512)) % 512)]
  })
  return new Uint8Array(gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)])))
}
