/** The CLI's own entry: parses the command line and loads only what the command needs. */
import { enableCompileCache } from 'node:module'
import { readEnvironment } from './config.ts'

const environment = readEnvironment()
// Before anything else is loaded: compiled code is kept between runs, in the folder of this user alone.
enableCompileCache(environment.compileCache)
const { runProcess } = await import('./program/run-process.ts')
await runProcess(environment)
