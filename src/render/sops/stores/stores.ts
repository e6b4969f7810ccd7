// Tested by src/dialects/flux/recorded.contract.test.ts.
/** Reads and writes all formats of SOPS files. */
import { utf8 } from '../../../core/bytes.ts'
import { SopsError } from '../sops-error.ts'
import type { SopsBranch, SopsFile, SopsFormat } from '../sops-tree.ts'
import { readDotenv, writeDotenv } from './dotenv-store.ts'
import { readIni, writeIni } from './ini-store.ts'
import { readJson, writeJson } from './json-store.ts'
import { readYamlBranches, writeYamlBranches } from './yaml-store.ts'

/** Reads an encrypted file; throws SopsError. */
export function readSopsFile(text: string, format: SopsFormat): SopsFile {
  switch (format) {
    case 'yaml':
      return readYamlBranches(text)
    case 'dotenv':
      return readDotenv(text)
    case 'ini':
      return readIni(text)
    // A binary file is a text in a JSON file.
    case 'json':
    case 'binary':
      return readJson(text)
  }
}

/** Writes decrypted branches; throws SopsError. */
export function writeSopsFile(branches: readonly SopsBranch[], format: SopsFormat): Uint8Array {
  return format === 'binary' ? binaryContent(branches) : utf8(textOf(branches, format))
}

function textOf(branches: readonly SopsBranch[], format: Exclude<SopsFormat, 'binary'>): string {
  switch (format) {
    case 'yaml':
      return writeYamlBranches(branches)
    case 'dotenv':
      return writeDotenv(branches)
    case 'ini':
      return writeIni(branches)
    case 'json':
      return writeJson(branches)
  }
}

function binaryContent([first]: readonly SopsBranch[]): Uint8Array {
  const data = first?.get('data')
  if (data instanceof Uint8Array) return data
  if (typeof data === 'string') return utf8(data)
  throw new SopsError('error emitting binary store: no binary data found in tree')
}

const MARKS: readonly (readonly [SopsFormat, string])[] = [
  ['json', '"mac": "ENC['],
  ['dotenv', 'sops_mac=ENC['],
  ['ini', '[sops]'],
  ['yaml', 'mac: ENC['],
]

/** The format of an encrypted text, or undefined for a text that is not encrypted. */
export function detectFormat(text: string): SopsFormat | undefined {
  return MARKS.find(([, mark]) => text.includes(mark))?.[0]
}

/** Whether a text has the mark of an encrypted file of this format. */
export function hasMark(text: string, format: SopsFormat): boolean {
  const known = format === 'binary' ? 'json' : format
  return MARKS.some(([one, mark]) => one === known && text.includes(mark))
}

/** The format of a file by its name. */
export function formatForPath(path: string): SopsFormat {
  const extension = path.slice(path.lastIndexOf('.') + 1)
  if (!path.includes('.')) return 'binary'
  if (extension === 'yaml' || extension === 'yml') return 'yaml'
  if (extension === 'json' || extension === 'dockerconfigjson') return 'json'
  if (extension === 'env') return 'dotenv'
  return extension === 'ini' ? 'ini' : 'binary'
}
