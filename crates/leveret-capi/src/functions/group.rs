//! Groups of members.

use super::object::{free, made, told};
use crate::answer::answer;
use crate::state::{good, with_library, with_world};
use crate::types::{MPIRT_Group, NameIn, NameOut, Out, ValuesIn};
use leveret_runtime::objects::{Code, Combination, Handle, World};
use std::ffi::c_int;

/// The rank of who is no member.
const RANK_UNDEFINED: c_int = -1;

fn rank_of(found: Option<usize>) -> c_int {
    found.map_or(RANK_UNDEFINED, |rank| rank as c_int)
}

fn ranks_in(ranks: ValuesIn<c_int>, count: c_int) -> Result<Vec<u32>, Code> {
    ranks.read(count)?.iter().map(|rank| u32::try_from(*rank).map_err(|_| Code::InvRank)).collect()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Group_size(group: MPIRT_Group, size: Out<c_int>) -> c_int {
    answer(|| {
        told(group, size, |world, group| c_int::try_from(world.group_size(group)?).map_err(|_| Code::Limit))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Group_rank(group: MPIRT_Group, rank: Out<c_int>) -> c_int {
    answer(|| told(group, rank, |world, group| world.group_rank(group).map(rank_of)))
}

/// Makes a group of another one's ranks.
fn chosen(
    (group, result): (MPIRT_Group, Out<MPIRT_Group>),
    (ranks, count): (ValuesIn<c_int>, c_int),
    name: NameIn,
    make: impl FnOnce(&mut World, &str, Handle, &[u32]) -> Result<Handle, Code>,
) -> Result<(), Code> {
    made(
        result,
        || good(group),
        |group| {
            ranks.check(count)?;
            let name = name.read()?;
            // With more ranks than members one is named twice; so many may not even be there.
            if usize::try_from(count)
                .is_ok_and(|count| with_world(|world| world.group_size(group)).is_ok_and(|size| count > size))
            {
                return Err(Code::InvRank);
            }
            let ranks = ranks_in(ranks, count)?;
            with_library(|library| make(&mut library.world, name, group, &ranks))
        },
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Group_incl(
    group: MPIRT_Group,
    count: c_int,
    ranks: ValuesIn<c_int>,
    name: NameIn,
    result: Out<MPIRT_Group>,
) -> c_int {
    answer(|| {
        chosen((group, result), (ranks, count), name, |world, name, group, ranks| {
            world.group_include(name, group, ranks)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Group_excl(
    group: MPIRT_Group,
    count: c_int,
    ranks: ValuesIn<c_int>,
    name: NameIn,
    result: Out<MPIRT_Group>,
) -> c_int {
    answer(|| {
        chosen((group, result), (ranks, count), name, |world, name, group, ranks| {
            world.group_exclude(name, group, ranks)
        })
    })
}

/// Makes a group of two.
fn combined(
    (first, second): (MPIRT_Group, MPIRT_Group),
    combination: Combination,
    name: NameIn,
    result: Out<MPIRT_Group>,
) -> Result<(), Code> {
    made(
        result,
        || Ok((good(first)?, good(second)?)),
        |(first, second)| {
            let name = name.read()?;
            with_library(|library| library.world.group_combine(name, combination, first, second))
        },
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Group_union(
    first: MPIRT_Group,
    second: MPIRT_Group,
    name: NameIn,
    result: Out<MPIRT_Group>,
) -> c_int {
    answer(|| combined((first, second), Combination::Union, name, result))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Group_intersection(
    first: MPIRT_Group,
    second: MPIRT_Group,
    name: NameIn,
    result: Out<MPIRT_Group>,
) -> c_int {
    answer(|| combined((first, second), Combination::Intersection, name, result))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Group_difference(
    first: MPIRT_Group,
    second: MPIRT_Group,
    name: NameIn,
    result: Out<MPIRT_Group>,
) -> c_int {
    answer(|| combined((first, second), Combination::Difference, name, result))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Group_translate_ranks(
    source: MPIRT_Group,
    count: c_int,
    ranks: ValuesIn<c_int>,
    target: MPIRT_Group,
    translated: Out<c_int>,
) -> c_int {
    answer(|| {
        let (source, target) = (good(source)?, good(target)?);
        ranks.check(count)?;
        if count != 0 {
            translated.check()?;
        }
        let ranks = ranks_in(ranks, count)?;
        let found = with_world(|world| world.group_translate(source, &ranks, target))?;
        let found: Vec<c_int> = found.into_iter().map(rank_of).collect();
        translated.put_all(&found)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Group_compare(
    first: MPIRT_Group,
    second: MPIRT_Group,
    result: Out<c_int>,
) -> c_int {
    answer(|| {
        let (first, second) = (good(first)?, good(second)?);
        result.check()?;
        let found = with_world(|world| world.group_compare(first, second))?;
        result.put(found as c_int)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Group_get_member_name(
    group: MPIRT_Group,
    rank: c_int,
    name: NameOut,
) -> c_int {
    answer(|| {
        let group = good(group)?;
        name.check()?;
        let rank = u32::try_from(rank).map_err(|_| Code::InvRank)?;
        with_world(|world| name.put(world.member_name(group, rank)?))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRTX_Group_find_member(
    group: MPIRT_Group,
    name: NameIn,
    rank: Out<c_int>,
) -> c_int {
    answer(|| {
        let group = good(group)?;
        name.check()?;
        rank.check()?;
        let name = name.read()?;
        let found = with_world(|world| world.find_member(group, name))?;
        rank.put(rank_of(found))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIRT_Group_free(group: Out<MPIRT_Group>) -> c_int {
    answer(|| free(group))
}
