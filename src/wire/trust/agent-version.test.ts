import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOlderVersion } from './agent-version.ts'

test('versions are compared by number, and what is no version is too old', () => {
  const older: [string, string][] = [
    ['0.1.0', '0.2.0'],
    ['0.9.0', '0.10.0'],
    ['1.2.3', '1.2.4'],
    ['1.0.0-rc.1', '1.0.0'],
    ['', '0.0.1'],
    ['yesterday', '0.1.0'],
    ['1.2', '1.2.0'],
  ]
  const fine: [string, string][] = [
    ['0.1.0', '0.1.0'],
    ['v0.1.0', '0.1.0'],
    ['0.10.0', '0.9.9'],
    ['1.0.0', '1.0.0-rc.1'],
    ['1.0.0+build', '1.0.0'],
    // An unreadable minimum version refuses no agent.
    ['0.1.0', 'newest'],
  ]
  for (const [version, least] of older) assert.equal(isOlderVersion(version, least), true, `${version} < ${least}`)
  for (const [version, least] of fine) assert.equal(isOlderVersion(version, least), false, `${version} >= ${least}`)
})
