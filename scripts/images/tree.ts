// Tested by scripts/images/images.contract.test.ts.
// The files of a layer: read from Debian packages and folders, written as one tar that is the same every time.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { TAR_BLOCK_BYTES, tarChecksum, tarEntries, tarPadding } from '../../src/core/tar.ts'

/** A file, folder or link of an image, by its path without a leading slash. */
export type Node =
  | { readonly type: 'file'; readonly mode: number; readonly data: Uint8Array }
  | { readonly type: 'folder'; readonly mode: number }
  | { readonly type: 'link'; readonly target: string }
export type Tree = Map<string, Node>

/** Documentation except licenses, and what only other programs than ours read. */
const LEFT_OUT = [
  /^usr\/share\/doc\/[^/]+\/(?!copyright$)/,
  /^usr\/share\/(man|locale|lintian|bug|bash-completion|perl5|debianutils|apport)\//,
  /^usr\/share\/git-core\/contrib\//,
  /^usr\/share\/git-core\/templates\/hooks\//,
  /^usr\/lib\/[^/]+\/gconv\//,
  /^usr\/lib\/git-core\/(mergetools\/|git-(daemon|http-backend|http-push|imap-send|shell|instaweb|sh-i18n--envsubst)$|scalar$|git$)/,
  /^usr\/bin\/(scalar|git-shell|ssh-(add|agent|argv0|copy-id|keygen|keyscan))$/,
  /^usr\/(lib\/openssh|lib\/sasl2|sbin|share\/ca-certificates-)\//,
  /^etc\/(bash_completion\.d|ca-certificates|ld\.so\.conf\.d|init\.d|default)\//,
  /^(usr\/share\/gcc|usr\/lib\/systemd)\//,
]

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8')

/** Adds the files of a Debian package. */
export function addDebianPackage(tree: Tree, name: string, deb: Uint8Array): void {
  for (const entry of tarEntries(tarOfDebianPackage(name, deb))) {
    const path = text(entry.name).replace(/^\.\//, '').replace(/\/+$/, '')
    if (path === '' || path === '.' || entry.type === '5') continue
    if (path.split('/').includes('..')) throw new Error(`${name}: the path ${path} leaves the package`)
    if (LEFT_OUT.some((pattern) => pattern.test(path))) continue
    if (entry.type === '2') tree.set(path, { type: 'link', target: text(entry.link) })
    else if (entry.type === '1') {
      const target = tree.get(text(entry.link).replace(/^\.\//, ''))
      if (target?.type !== 'file') throw new Error(`${name}: ${path} is a hard link to a missing file`)
      tree.set(path, target)
    } else tree.set(path, fileOf(entry.data))
  }
}

/** A file that is executable if its first bytes say that it is a program. */
export function fileOf(data: Uint8Array): Node {
  const isProgram = text(data.subarray(0, 4)) === '\u007fELF' || text(data.subarray(0, 2)) === '#!'
  return { type: 'file', mode: isProgram ? 0o755 : 0o644, data }
}

/** Adds the files of a folder of this machine. */
export function addFolder(tree: Tree, from: string, to: string, isWanted: (path: string) => boolean): void {
  for (const path of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
    const file = join(from, path)
    if (!statSync(file).isFile() || !isWanted(path)) continue
    const { data } = fileOf(readFileSync(file)) as { readonly data: Uint8Array }
    tree.set(`${to}/${path}`, { type: 'file', mode: 0o644, data })
  }
}

/** The tar with the files of a Debian package. */
export function tarOfDebianPackage(name: string, deb: Uint8Array): Uint8Array {
  for (const member of arMembers(deb)) {
    if (member.name === 'data.tar') return member.data
    if (member.name === 'data.tar.zst') return zstdDecompressSync(member.data)
    if (member.name === 'data.tar.xz') return unxz(member.data)
  }
  throw new Error(`${name}: the package has no data.tar`)
}

function arMembers(ar: Uint8Array): { readonly name: string; readonly data: Uint8Array }[] {
  const members = []
  for (let at = '!<arch>\n'.length; at + 60 <= ar.length;) {
    const header = text(ar.subarray(at, at + 60))
    const size = Number(header.slice(48, 58))
    if (!Number.isSafeInteger(size)) throw new Error('a member of a Debian package has no size')
    members.push({ name: header.slice(0, 16).replace(/\/? *$/, ''), data: ar.subarray(at + 60, at + 60 + size) })
    at += 60 + size + (size % 2)
  }
  return members
}

const MAX_UNPACKED = 256 * 1024 * 1024

function unxz(data: Uint8Array): Uint8Array {
  const { error, status, stdout, stderr } = spawnSync('xz', ['--decompress', '--stdout'], {
    input: data,
    maxBuffer: MAX_UNPACKED,
  })
  if (error !== undefined) throw new Error(`xz: ${error.message}; install xz-utils`)
  if (status !== 0) throw new Error(`xz ended with code ${status}: ${text(stderr).trim()}`)
  return stdout
}

/** One tar of the tree with the folders above its files: sorted, owned by root, without times. */
export function writeTree(tree: Tree): Buffer {
  const all: Tree = new Map(tree)
  for (const path of tree.keys()) {
    const parts = path.split('/')
    for (let depth = 1; depth < parts.length; depth++) {
      const folder = parts.slice(0, depth).join('/')
      if (!all.has(folder)) all.set(folder, { type: 'folder', mode: 0o755 })
    }
  }
  const sorted = [...all].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const blocks = sorted.flatMap(([path, node]) => entryOf(path, node))
  return Buffer.concat([...blocks, new Uint8Array(2 * TAR_BLOCK_BYTES)])
}

function entryOf(path: string, node: Node): Uint8Array[] {
  if (node.type === 'link') return [header(path, { mode: 0o777, size: 0, flag: '2', link: node.target })]
  if (node.type === 'folder') return [header(`${path}/`, { mode: node.mode, size: 0, flag: '5' })]
  const { data, mode } = node
  return [header(path, { mode, size: data.length, flag: '0' }), data, new Uint8Array(tarPadding(data.length))]
}

interface Fields {
  readonly mode: number
  readonly size: number
  readonly flag: '0' | '2' | '5'
  readonly link?: string
}

function header(path: string, { mode, size, flag, link = '' }: Fields): Uint8Array {
  const block = Buffer.alloc(TAR_BLOCK_BYTES)
  const cut = path.length <= 100 ? -1 : path.lastIndexOf('/', 154)
  const name = path.slice(cut + 1)
  if (name.length > 100 || link.length > 100) throw new Error(`the path ${path} is too long for a tar`)
  block.write(name, 0)
  block.write(`${mode.toString(8).padStart(7, '0')}\0`, 100)
  block.write('0000000\0', 108)
  block.write('0000000\0', 116)
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  block.write('00000000000\0', 136)
  block.write(flag, 156)
  block.write(link, 157)
  block.write('ustar\u000000', 257)
  if (cut > 0) block.write(path.slice(0, cut), 345)
  block.write(`${tarChecksum(block).toString(8).padStart(6, '0')}\0 `, 148)
  return block
}
