import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Command } from 'commander'
import { SYSTEM_NAMESPACE } from '../../hub/home/hub-info.ts'
import { commanderArgs } from '../template/helm-flags.ts'
import { cliReference, allCommands, describedProgram } from './docs-page.ts'
import { FlotillaCommand, GROUP } from './flotilla-command.ts'

/** The words of a command line with double and single quotes. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replaceAll(/['"]/g, ''))
}

/** Parses a line without running a command; returns the path of the command that would run. */
async function parsed(line: string): Promise<string> {
  const program = describedProgram({ hasVersion: false })
  const [name, ...args] = wordsOf(line)
  assert.equal(name, 'flotilla', line)
  let found = ''
  for (const command of [program, ...allCommands(program)]) {
    command.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} })
    command.hook('preAction', (_, action) => {
      for (let at: Command | null = action; at; at = at.parent) found = `${at.name()} ${found}`
    })
    command.hook('preAction', () => {
      throw new Error('parsed')
    })
  }
  await program
    .parseAsync(args[0] === 'template' ? commanderArgs(args) : args, { from: 'user' })
    .catch((caught: unknown) => {
      if (!(caught instanceof Error) || caught.message !== 'parsed') throw caught
    })
  return found.trim()
}

const BEGINNINGS = /^(It|Which|What|How|Whether|Who|So|That|The same)\b/
const RIDDLES = /\b(unless said|so many|so long|such a|or none|if any|take back|taken back)\b/

test('every command has a summary, a long description and an example that parses', async () => {
  const commands = allCommands(describedProgram())
  assert.ok(commands.length > 60, String(commands.length))
  for (const command of commands) {
    const path = `${command.parent?.name()} ${command.name()}`
    assert.match(command.summary(), /^[A-Z][^.]*$/, `${path}: an imperative sentence without full stop`)
    assert.ok(command.description().startsWith(`${command.summary()}. `), path)
    assert.match(command.description(), /[.]$/, `${path}: ${command.description()}`)
    assert.ok(command.examples.length > 0, `${path} has no example`)
    for (const { purpose, line } of command.examples) {
      assert.match(purpose, /^[A-Z]/, path)
      assert.notEqual(await parsed(line), '', `${path}: ${line}`)
    }
  }
})

test('the Secret with the keys of a hub is made for the namespace where the pods of the chart read it', () => {
  const secret = allCommands(describedProgram()).find(
    (command) => command.parent?.name() === 'trust' && command.name() === 'secret',
  )
  assert.equal(secret?.options.find(({ long }) => long === '--namespace')?.defaultValue, SYSTEM_NAMESPACE)
})

test('flags and arguments are described in sentence case and plain words', () => {
  for (const command of allCommands(describedProgram())) {
    const texts = [
      command.description(),
      ...command.options.filter(({ hidden }) => !hidden).map(({ flags, description }) => `${description} (${flags})`),
      ...command.registeredArguments.map(({ description }) => description),
    ]
    for (const text of texts) {
      assert.match(text, /^([A-Z[]|server:|client )/, `${command.name()}: ${text}`)
      assert.doesNotMatch(text, BEGINNINGS, command.name())
      assert.doesNotMatch(text, RIDDLES, command.name())
    }
  }
})

test('a required flag says so', () => {
  for (const { name, options } of allCommands(describedProgram()).map((command) => ({
    name: command.name(),
    options: command.options,
  }))) {
    for (const { mandatory, description, long } of options) {
      if (mandatory) assert.match(description, /\((required|required, repeatable)\)/, `${name} ${long}`)
    }
  }
})

test('the help groups all commands, shows global flags below the first level and the documentation', () => {
  const program = describedProgram()
  const help = program.helpInformation()
  const order = Object.values(GROUP).map((group) => help.indexOf(`\n${group}\n`))
  assert.ok(
    order.every((at, i) => at > (order[i - 1] ?? 0)),
    String(order),
  )
  assert.doesNotMatch(help, /\nCommands:\n/)
  const approve = allCommands(program)
    .find((command) => command.name() === 'approve')!
    .helpInformation()
  assert.match(approve, /Global Options:\n[^]*--kubeconfig <file>/)
  assert.match(approve, /\nExamples:\n {2}# Approve the ring that waits\n {2}flotilla rollout approve shop /)
  assert.match(approve, /\nDocumentation: https:\/\//)
})

test('the help command of a group is described as the help flag is', () => {
  const cluster = describedProgram().commands.find((command) => command.name() === 'cluster')!
  assert.match(cluster.helpInformation(), /\n {2}help \[command\] +Show the help of a command\n/)
})

test('a command without help is found', () => {
  const program = new FlotillaCommand('flotilla')
  program.command('bare')
  const [bare] = allCommands(program)
  assert.deepEqual([bare!.summary(), bare!.examples], ['', []])
})

test('docs/reference/cli.md is up to date', () => {
  const file = join(import.meta.dirname, '../../../docs/reference/cli.md')
  assert.equal(readFileSync(file, 'utf8'), cliReference(), 'run npm run docs')
})
