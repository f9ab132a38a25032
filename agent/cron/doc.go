// Package cron calls for schedules at their times.
package cron
