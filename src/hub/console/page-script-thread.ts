/**
 * Takes the types out of the page's script, in a thread that ends: what Node needs for it would stay in memory as
 * long as the hub runs.
 */
import { stripTypeScriptTypes } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'

parentPort?.postMessage(stripTypeScriptTypes(workerData as string)) // oxlint-disable-line unicorn/require-post-message-target-origin -- that is for windows
