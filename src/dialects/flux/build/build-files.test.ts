import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import type { FileTree } from '../../../render/kustomize/loader.ts'
import { ignoredInBuild } from './build-files.ts'

/** A directory with this number of subdirectories; the last one that is listed has an ignore file. */
function treeOf(directories: number): FileTree {
  const names = Array.from({ length: directories }, (_, at) => `d${at}`)
  return {
    stat: (path) => ({ kind: /\/d\d+$/.test(path) || path === '/x' ? 'directory' : 'file' }) as never,
    list: (path) => (path === '/x' ? names : path === '/x/d0' ? ['.sourceignore', 'a.yaml'] : ['a.yaml']),
    read: () => utf8('a.yaml\n'),
  }
}

test('ignore files that were not looked for are said', () => {
  const notes: string[] = []
  const few = ignoredInBuild(treeOf(3), '/x', [], (text) => void notes.push(text))
  assert.deepEqual([few('d0/a.yaml'), few('d1/a.yaml'), notes], [true, false, []])
  const many = ignoredInBuild(treeOf(99_999), '/x', [], (text) => void notes.push(text))
  assert.equal(many('d0/a.yaml'), false)
  assert.deepEqual(notes, [
    'only the first 100000 files below /x were searched for .sourceignore files; patterns of other files have no effect',
  ])
})
