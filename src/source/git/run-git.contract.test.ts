import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { prepareGitHome, runGit } from './run-git.ts'

test('each run says which process group it is, and when that has ended', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'flotilla-git-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  await prepareGitHome(home)
  const running = new Set<number>()
  const program = {
    path: process.env['PATH'] ?? '',
    home,
    noteProcess: (group: number) => {
      running.add(group)
      return () => void running.delete(group)
    },
  }
  const unwanted = new AbortController()
  const calledOff = runGit(program, { args: ['--version'], signal: unwanted.signal })
  calledOff.catch(() => {})
  assert.equal(running.size, 1)
  process.kill(-[...running][0]!, 0)
  unwanted.abort(new Error('no longer wanted'))
  await assert.rejects(calledOff, /no longer wanted/)
  assert.equal(running.size, 0)
  const version = await runGit(program, { args: ['--version'], signal: new AbortController().signal })
  assert.match(Buffer.from(version).toString(), /^git version /)
  assert.equal(running.size, 0)
})
